import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { fileOutcome, folderReport } from '../../contract/folder.ts';
import type { Database } from '../database/database.ts';
import { DatabaseLostError } from '../database/database-lost-error.ts';
import { FolderError } from './folder-error.ts';
import type { DocumentSource, KnowledgeStore, StoredDocument, StoredParagraph } from './knowledge-store.ts';
import { type FolderFile, listFolder, resolveFolder } from './list-folder.ts';
import type { DocumentPreparer } from './parsing/document-preparer.ts';
import type { PreparedDocument } from './parsing/prepare-document.ts';

/** Raised whenever parsing, splitting or tokens change: unchanged files are then read again. */
const INDEX_VERSION = 2;

/** Documents between two tidyings of the search data. */
const COMPACT_EVERY = 200;

/** A larger file is refused by name; the contract's clients have the same limit. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

export interface IndexPorts {
  database: Database;
  store: KnowledgeStore;
  preparer: Pick<DocumentPreparer, 'prepare'>;
  /** Writes what a search needs of these paragraphs; runs in the transaction that makes the document live. */
  indexParagraphs(place: DocumentPlace, paragraphs: readonly StoredParagraph[]): Promise<void>;
  /** Tidies a dataset's search data, now and then while indexing and at its end. */
  compact(datasetId: string): Promise<void>;
  log: Pick<Logger, 'warn'>;
}

export interface DocumentPlace {
  datasetId: string;
  documentId: string;
  documentName: string;
}

export type FileOutcome = z.infer<typeof fileOutcome>;

/** `done` of `total` files are through; `outcome` is the last one's. */
export interface FolderProgress {
  done: number;
  total: number;
  outcome: FileOutcome;
}

/** `removed`: documents whose file is gone. */
export type FolderReport = z.infer<typeof folderReport>;

/**
 * Makes a dataset mirror a folder: new and changed files are parsed and made live one by one, unchanged
 * ones skipped (size and time, then content), vanished ones removed. A file that cannot be read or stored is reported
 * and fails alone; what was indexed stays when the run ends early. Throws FolderError, DatabaseLostError, and when
 * `signal` fires.
 */
export async function indexFolder(
  ports: IndexPorts,
  folder: string,
  run: { onProgress(progress: FolderProgress): void; signal: AbortSignal },
): Promise<FolderReport> {
  const root = await resolveFolder(folder);
  const { files, unreadable } = await listFolder(root);
  const datasetId = await ports.store.ensureFolderDataset({ folder: root, name: basename(root) || root });
  const known = new Map(
    (await ports.store.listFolderDocuments(datasetId)).map((document) => [document.path, document]),
  );
  if (files.length === 0 && known.size === 0 && unreadable.length === 0) {
    throw new FolderError('folder_has_no_documents', `${root} holds no document that can be read.`);
  }
  const report = newReport(datasetId, root, files.length);
  report.failures.push(...unreadable.map((place) => ({ ...place, kept: isKnownBelow(known, place.path) })));
  for (const [index, file] of files.entries()) {
    const outcome = await indexFile(ports, { datasetId, file, known: known.get(file.path), signal: run.signal });
    note(report, outcome);
    run.onProgress({ done: index + 1, total: files.length, outcome });
    if (outcome.kind === 'indexed' && report.indexed % COMPACT_EVERY === 0) await ports.compact(datasetId);
  }
  const present = [...files, ...unreadable].map((place) => place.path);
  report.removed = await removeVanished(ports, { present, known });
  if (report.indexed + report.removed > 0) await ports.compact(datasetId);
  return report;
}

interface FileJob {
  datasetId: string;
  file: FolderFile;
  known: StoredDocument | undefined;
  signal: AbortSignal;
}

async function indexFile(ports: IndexPorts, job: FileJob): Promise<FileOutcome> {
  const { file, known } = job;
  job.signal.throwIfAborted();
  const current = known?.index_version === INDEX_VERSION ? known : undefined;
  if (current && current.size === file.sizeBytes && current.mtime_ms === file.mtimeMs) {
    return { kind: 'unchanged', path: file.path };
  }
  if (file.sizeBytes > MAX_FILE_BYTES) return failure(job, 'The file is larger than 100 MB.');
  const read = await readBytes(file);
  if (typeof read === 'string') return failure(job, read);
  const source = sourceOf(file, read);
  if (current?.sha256 === source.sha256) {
    await ports.store.updateDocumentSource(current.id, source);
    return { kind: 'unchanged', path: file.path };
  }
  const outcome = await ports.preparer.prepare({ name: basename(file.path), bytes: read }, job.signal);
  if (outcome.kind === 'failed') return failure(job, outcome.message);
  try {
    await makeLive(ports, job, { source, document: outcome.document });
  } catch (error) {
    return notStored(ports, job, error);
  }
  const { paragraphs, characters, warnings } = outcome.document;
  return { kind: 'indexed', path: file.path, paragraphs: paragraphs.length, characters, warnings };
}

/** One transaction swaps the old version for the new one: a reader sees either, never none. */
async function makeLive(
  ports: IndexPorts,
  { datasetId, file }: FileJob,
  { source, document }: { source: DocumentSource; document: PreparedDocument },
): Promise<void> {
  const { strategy, characters, pages, warnings, paragraphs } = document;
  await ports.database.transaction(async () => {
    // Another process may index the same folder: one after the other, and the later replaces what the earlier wrote.
    await ports.store.lockDataset(datasetId);
    await ports.store.deleteDocumentAt(datasetId, file.path);
    const documentName = file.path.slice(-150);
    const documentId = await ports.store.insertDocument({
      datasetId,
      name: documentName,
      characters,
      meta: { ...source, strategy, pages, warnings },
    });
    const stored = await ports.store.insertParagraphs({ datasetId, documentId }, paragraphs);
    await ports.indexParagraphs({ datasetId, documentId, documentName }, stored);
  });
}

/** What the database refuses of a file is that file's trouble; a lost database is everybody's, and ends the run. */
function notStored(ports: IndexPorts, job: FileJob, error: unknown): FileOutcome {
  job.signal.throwIfAborted();
  if (error instanceof DatabaseLostError) throw error;
  ports.log.warn({ err: error, path: job.file.path }, 'a file could not be stored');
  return failure(job, `The file could not be stored: ${error instanceof Error ? error.message : String(error)}`);
}

/** Removes documents whose file is gone; what could not be looked at is not gone. */
async function removeVanished(
  ports: IndexPorts,
  { present, known }: { present: readonly string[]; known: ReadonlyMap<string, StoredDocument> },
): Promise<number> {
  const paths = new Set(present);
  const vanished = [...known.values()].filter((document) => !ancestors(document.path).some((path) => paths.has(path)));
  for (const document of vanished) await ports.store.deleteDocument(document.id);
  return vanished.length;
}

/** A path and every folder above it. */
function ancestors(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function isKnownBelow(known: ReadonlyMap<string, StoredDocument>, folder: string): boolean {
  return [...known.keys()].some((path) => ancestors(path).includes(folder));
}

/** The bytes, or why there are none. */
async function readBytes(file: FolderFile): Promise<Uint8Array | string> {
  try {
    return await readFile(file.fullPath);
  } catch (error) {
    return `The file cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function sourceOf(file: FolderFile, bytes: Uint8Array): DocumentSource {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path: file.path, size: file.sizeBytes, mtime_ms: file.mtimeMs, sha256, index_version: INDEX_VERSION };
}

function failure(job: FileJob, message: string): FileOutcome {
  return { kind: 'failed', path: job.file.path, message, kept: job.known !== undefined };
}

function newReport(datasetId: string, folder: string, files: number): FolderReport {
  const counts = { files, indexed: 0, unchanged: 0, removed: 0, paragraphs: 0 };
  return { datasetId, folder, ...counts, failures: [], warnings: [] };
}

function note(report: FolderReport, outcome: FileOutcome): void {
  switch (outcome.kind) {
    case 'indexed':
      report.indexed += 1;
      report.paragraphs += outcome.paragraphs;
      report.warnings.push(...outcome.warnings.map((message) => ({ path: outcome.path, message })));
      return;
    case 'unchanged':
      report.unchanged += 1;
      return;
    case 'failed':
      report.failures.push({ path: outcome.path, message: outcome.message, kept: outcome.kept });
  }
}
