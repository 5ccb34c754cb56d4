import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../server/database/database.ts';
import { migrate } from '../server/database/migrate.ts';
import { openDatabase } from '../server/database/open-database.ts';
import { compactSearchData } from '../server/knowledge/indexing/compact-search-data.ts';
import { indexParagraphs } from '../server/knowledge/indexing/index-paragraphs.ts';
import { KnowledgeStore } from '../server/knowledge/knowledge-store.ts';
import { countTokens } from '../server/models/tokens.ts';
import { BenchUsageError, progress } from './bench.ts';
import type { CorpusParagraph } from './bench-data.ts';

export type EngineChoice = 'pglite' | 'postgresql';

/** A fresh, migrated database; `close` removes it. */
interface BenchDatabase {
  database: Database;
  close(): Promise<void>;
}

/** Reads `--engine pglite|postgresql|both`. Throws BenchUsageError. */
export function parseEngines(text: string): EngineChoice[] {
  if (text === 'both') return ['pglite', 'postgresql'];
  if (text === 'pglite' || text === 'postgresql') return [text];
  throw new BenchUsageError('--engine is pglite, postgresql or both.');
}

/** PGlite in a temporary folder, or a new database beside the one that `url` names. Throws BenchUsageError. */
async function openBenchDatabase(engine: EngineChoice, url: string | undefined): Promise<BenchDatabase> {
  const opened = engine === 'pglite' ? await openFolder() : await openBeside(url);
  await migrate(opened.database);
  return opened;
}

/** Runs `work` on a fresh database of each engine, one after the other; each is removed, also when `work` fails. */
export async function onEachEngine(
  { engines, databaseUrl }: { engines: readonly EngineChoice[]; databaseUrl: string | undefined },
  work: (database: Database, engine: EngineChoice) => Promise<void>,
): Promise<void> {
  for (const engine of engines) {
    const opened = await openBenchDatabase(engine, databaseUrl);
    try {
      await work(opened.database, engine);
    } finally {
      await opened.close();
    }
  }
}

async function openFolder(): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'knowhy-bench-'));
  const database = await openDatabase({ dataDir: folder });
  return {
    database,
    close: async () => {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openBeside(url: string | undefined): Promise<BenchDatabase> {
  if (url === undefined) {
    throw new BenchUsageError('give --database-url (or KNOWHY_TEST_DATABASE_URL) of a PostgreSQL with pgvector.');
  }
  const administrator = await openDatabase({ url });
  const name = `knowhy_bench_${process.pid}`;
  await administrator.query(`create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const database = await openDatabase({ url: own.href });
  return {
    database,
    close: async () => {
      await database.close();
      await administrator.query(`drop database if exists ${name} with (force)`);
      await administrator.close();
    },
  };
}

/** A corpus in a database. `idByKey`: the paragraph of each key. */
export interface IndexedCorpus {
  datasetId: string;
  idByKey: Map<string, string>;
  seconds: number;
}

/** Stores a corpus as one dataset, a document for each run of paragraphs of the same document, by the product's own steps. */
export async function indexCorpus(database: Database, corpus: readonly CorpusParagraph[]): Promise<IndexedCorpus> {
  const store = new KnowledgeStore(database);
  const datasetId = await store.ensureFolderDataset({ folder: '/bench', name: 'bench' });
  const idByKey = new Map<string, string>();
  const startedMs = performance.now();
  let done = 0;
  for (const [index, group] of byDocument(corpus).entries()) {
    const name = group[0]?.document ?? '';
    await database.transaction(async () => {
      const place = { datasetId, documentId: await insertDocument(store, { datasetId, name, path: `${index}` }) };
      const stored = await store.insertParagraphs(place, group.map(toPrepared));
      await indexParagraphs(database, { ...place, documentName: name }, stored);
      for (const [position, paragraph] of stored.entries()) idByKey.set(group[position]?.key ?? '', paragraph.id);
    });
    done += group.length;
    if (index % 200 === 199) {
      progress(`indexed ${done} of ${corpus.length} paragraphs`);
      await compactSearchData(database, datasetId);
    }
  }
  await compactSearchData(database, datasetId);
  // What autovacuum does on a server that is left alone for a minute.
  await database.query('analyze');
  return { datasetId, idByKey, seconds: (performance.now() - startedMs) / 1000 };
}

/** Short documents (one paragraph each) are stored together, as many to a document as a folder's file would hold. */
const MAX_GROUP = 500;

function byDocument(corpus: readonly CorpusParagraph[]): CorpusParagraph[][] {
  const groups: CorpusParagraph[][] = [];
  for (const paragraph of corpus) {
    const last = groups.at(-1);
    if (last && last[0]?.document === paragraph.document && last.length < MAX_GROUP) last.push(paragraph);
    else groups.push([paragraph]);
  }
  return groups;
}

function insertDocument(
  store: KnowledgeStore,
  document: { datasetId: string; name: string; path: string },
): Promise<string> {
  return store.insertDocument({
    datasetId: document.datasetId,
    name: document.name,
    characters: 0,
    meta: { path: document.path, size: 0, mtime_ms: 0, sha256: '', index_version: 0 },
  });
}

function toPrepared({ title, content }: CorpusParagraph) {
  return { title: title.slice(0, 255), content, tokenCount: countTokens(title) + countTokens(content) };
}
