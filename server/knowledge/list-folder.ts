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

/**
 * The documents below a folder that can be parsed, sorted by path. Hidden files, `node_modules` and links
 * are passed over, so that no link leads out of the folder. Throws FolderError.
 */
export async function listFolder(folder: string): Promise<FolderFile[]> {
  const files: FolderFile[] = [];
  await collect(folder, folder, files);
  if (files.length > MAX_FILES) {
    throw new FolderError(
      'folder_unreadable',
      `${folder} holds more than ${MAX_FILES} documents; choose a smaller folder.`,
    );
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function collect(root: string, folder: string, files: FolderFile[]): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const fullPath = join(folder, entry.name);
    if (entry.name.startsWith('.') || entry.name.startsWith('~$') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) await collect(root, fullPath, files);
    else if (entry.isFile() && isSupported(entry.name)) files.push(...(await describe(root, fullPath)));
    if (files.length > MAX_FILES) return;
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FolderError('folder_unreadable', `${folder} cannot be read: ${why}`, { cause: error });
  }
}

function isSupported(name: string): boolean {
  const extensions: readonly string[] = supportedExtensions;
  return extensions.includes(extname(name).toLowerCase());
}

/** One file, or none where it vanished since it was listed. */
async function describe(root: string, fullPath: string): Promise<FolderFile[]> {
  const found = await stat(fullPath).catch(() => null);
  if (!found) return [];
  const path = relative(root, fullPath).split(sep).join('/');
  return [{ path, fullPath, sizeBytes: found.size, mtimeMs: Math.floor(found.mtimeMs) }];
}
