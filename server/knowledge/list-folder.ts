import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { FolderError } from './folder-error.ts';
import { supportedExtensions } from './parsing/parse-document.ts';

/** A file of a folder. `path` is relative, with `/`, and names the file in the dataset. */
export interface FolderFile {
  path: string;
  fullPath: string;
  sizeBytes: number;
  mtimeMs: number;
}

const MAX_FILES = 100_000;

/** The folder's real path. Throws FolderError where it is none. */
export async function resolveFolder(folder: string): Promise<string> {
  try {
    const path = await realpath(folder);
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    throw new FolderError('folder_not_found', `There is no folder ${folder}.`, { cause: error });
  }
  throw new FolderError('folder_not_found', `${folder} is a file; give the folder that holds the documents.`);
}

/** What a folder holds. `unreadable`: places below it that could not be looked at, by relative path. */
export interface FolderListing {
  files: FolderFile[];
  unreadable: { path: string; message: string }[];
}

/**
 * The documents below a folder that can be parsed, sorted by path. Hidden files, `node_modules` and links
 * are passed over, so that no link leads out of the folder. Throws FolderError.
 */
export async function listFolder(folder: string): Promise<FolderListing> {
  const listing: FolderListing = { files: [], unreadable: [] };
  try {
    await collect(folder, folder, listing);
  } catch (error) {
    throw new FolderError('folder_unreadable', `${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (listing.files.length > MAX_FILES) {
    throw new FolderError(
      'folder_unreadable',
      `${folder} holds more than ${MAX_FILES} documents; choose a smaller folder.`,
    );
  }
  listing.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return listing;
}

async function collect(root: string, folder: string, listing: FolderListing): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const fullPath = join(folder, entry.name);
    if (entry.name.startsWith('.') || entry.name.startsWith('~$') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) await collectBelow(root, fullPath, listing);
    else if (entry.isFile() && isSupported(entry.name)) await describe(root, fullPath, listing);
    if (listing.files.length > MAX_FILES) return;
  }
}

/** A folder that may not be entered is reported, and the others are read. */
async function collectBelow(root: string, folder: string, listing: FolderListing): Promise<void> {
  try {
    await collect(root, folder, listing);
  } catch (error) {
    listing.unreadable.push({
      path: pathBelow(root, folder),
      message: `The folder cannot be read: ${messageOf(error)}`,
    });
  }
}

function isSupported(name: string): boolean {
  const extensions: readonly string[] = supportedExtensions;
  return extensions.includes(extname(name).toLowerCase());
}

/** Adds a file, unless it vanished since it was listed. */
async function describe(root: string, fullPath: string, listing: FolderListing): Promise<void> {
  const path = pathBelow(root, fullPath);
  try {
    const { size, mtimeMs } = await stat(fullPath);
    listing.files.push({ path, fullPath, sizeBytes: size, mtimeMs: Math.floor(mtimeMs) });
  } catch (error) {
    if (path.includes('\uFFFD'))
      listing.unreadable.push({ path, message: 'The name of the file is not UTF-8; rename it.' });
    else if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      listing.unreadable.push({ path, message: messageOf(error) });
    }
  }
}

function pathBelow(root: string, fullPath: string): string {
  return relative(root, fullPath).split(sep).join('/');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
