import { mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../database/database.ts';
import { DatabaseLostError } from '../database/database-lost-error.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { type FolderProgress, type FolderReport, type IndexPorts, indexFolder } from './index-folder.ts';
import { compactSearchData } from './indexing/compact-search-data.ts';
import { indexParagraphs } from './indexing/index-paragraphs.ts';
import { Knowledge } from './knowledge.ts';
import { KnowledgeStore } from './knowledge-store.ts';
import { DocumentPreparer } from './parsing/document-preparer.ts';

describeOnDatabases('indexFolder', (open, engine) => {
  // The embedded database has no connection that somebody could cut.
  const itOnPostgres = engine === 'postgresql' ? it : () => {};
  const preparer = new DocumentPreparer();
  let database: Database;
  let knowledge: Knowledge;
  let folder: string;
  let logged: string[];

  beforeAll(async () => {
    database = await open();
    knowledge = new Knowledge({ database, embedder: null, log: pino({ level: 'silent' }) });
  });
  afterAll(() => preparer.close());
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'knowhy-test-')));
    logged = [];
    await write('leave.md', '# Leave\nAlpha days of leave.');
    await write('pay.txt', 'Beta is the pay.');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (path: string, text: string) => writeFile(join(folder, path), text);

  function portsWith(changes: Partial<IndexPorts> = {}): IndexPorts {
    return {
      database,
      store: new KnowledgeStore(database),
      preparer,
      indexParagraphs: (place, paragraphs) => indexParagraphs(database, place, paragraphs),
      compact: async (datasetId) => void (await compactSearchData(database, datasetId)),
      log: pino({ level: 'warn' }, { write: (line) => logged.push(line) }),
      ...changes,
    };
  }

  /** Fails in the transaction of one file, on whose name it depends. */
  function refusing(name: string, refuse: () => Promise<unknown>): Partial<IndexPorts> {
    return {
      indexParagraphs: async (place, paragraphs) => {
        if (place.documentName === name) await refuse();
        await indexParagraphs(database, place, paragraphs);
      },
    };
  }

  interface Run {
    onProgress?(progress: FolderProgress): void;
    signal?: AbortSignal;
  }

  function index(ports = portsWith(), { onProgress = () => {}, signal = new AbortController().signal }: Run = {}) {
    return indexFolder(ports, folder, { onProgress, signal });
  }

  /** Names of the documents in which a search finds a word. */
  async function find(query: string, datasetId: string): Promise<string[]> {
    const request = { query, datasetIds: [datasetId], topN: 5, mode: 'keywords', similarity: 0 } as const;
    const hits = await knowledge.search({ ...request, signal: new AbortController().signal });
    return hits.map((hit) => hit.documentName);
  }

  it('makes every document of a folder found', async () => {
    const report = await index();

    expect(report).toMatchObject({
      folder,
      files: 2,
      indexed: 2,
      unchanged: 0,
      removed: 0,
      paragraphs: 2,
      failures: [],
    });
    expect(await find('alpha', report.datasetId)).toEqual(['leave.md']);
    expect(await find('beta', report.datasetId)).toEqual(['pay.txt']);
  });

  it('tells of each file as it is done', async () => {
    const seen: FolderProgress[] = [];

    await index(portsWith(), { onProgress: (progress) => seen.push(progress) });

    expect(seen.map(({ done, total, outcome }) => [done, total, outcome.kind, outcome.path])).toEqual([
      [1, 2, 'indexed', 'leave.md'],
      [2, 2, 'indexed', 'pay.txt'],
    ]);
  });

  it('swaps a changed file: the old version is found until the new one is complete', async () => {
    const { datasetId } = await index();
    await write('leave.md', '# Leave\nGamma days of leave.');
    let within: () => void = () => {};
    const isSwapping = new Promise<void>((resolve) => {
      within = resolve;
    });
    // Outside the transaction: the embedded database answers when it is over, PostgreSQL in the middle of it.
    const meanwhile = isSwapping.then(async () => ({
      old: await find('alpha', datasetId),
      new: await find('gamma', datasetId),
    }));

    const ports = portsWith({
      indexParagraphs: async (place, paragraphs) => {
        await indexParagraphs(database, place, paragraphs);
        within();
        if (engine === 'postgresql') await meanwhile;
      },
    });
    const report = await index(ports);

    expect(report).toMatchObject({ indexed: 1, unchanged: 1 });
    expect(await meanwhile).toEqual(
      engine === 'postgresql' ? { old: ['leave.md'], new: [] } : { old: [], new: ['leave.md'] },
    );
    expect(await find('alpha', datasetId)).toEqual([]);
    expect(await find('gamma', datasetId)).toEqual(['leave.md']);
  });

  it('removes a document whose file has vanished', async () => {
    const { datasetId } = await index();
    await rm(join(folder, 'pay.txt'));

    const report = await index();

    expect(report).toMatchObject({ files: 1, indexed: 0, unchanged: 1, removed: 1 });
    expect(await find('beta', datasetId)).toEqual([]);
    expect(await find('alpha', datasetId)).toEqual(['leave.md']);
  });

  it('takes a renamed file for one that vanished and one that is new', async () => {
    const { datasetId } = await index();
    await rm(join(folder, 'pay.txt'));
    await write('salary.txt', 'Beta is the pay.');

    const report = await index();

    expect(report).toMatchObject({ indexed: 1, unchanged: 1, removed: 1 });
    expect(await find('beta', datasetId)).toEqual(['salary.txt']);
  });

  it('keeps the version before of a file that cannot be read any more', async () => {
    const { datasetId } = await index();
    await write('leave.md', '');
    await write('new.md', '');

    const report = await index();

    expect(report.failures).toEqual([
      { path: 'leave.md', message: '"leave.md" is empty', kept: true },
      { path: 'new.md', message: '"new.md" is empty', kept: false },
    ]);
    expect(await find('alpha', datasetId)).toEqual(['leave.md']);
  });

  it('counts a file that was touched and holds what it held as unchanged, and does not open it again', async () => {
    await index();
    const later = Math.floor(Date.now() / 1000) + 60;
    await utimes(join(folder, 'leave.md'), later, later);
    const prepared: string[] = [];
    const ports = portsWith({
      preparer: {
        prepare: (job, signal) => {
          prepared.push(job.name);
          return preparer.prepare(job, signal);
        },
      },
    });

    const report = await index(ports);

    expect(report).toMatchObject({ indexed: 0, unchanged: 2 });
    expect(prepared).toEqual([]);
    const documents = await new KnowledgeStore(database).listFolderDocuments(report.datasetId);
    expect(documents.find(({ path }) => path === 'leave.md')?.mtime_ms).toBe(later * 1000);
  });

  it('keeps what was done when it is called off, and goes on from there', async () => {
    const calledOff = new AbortController();
    const running = index(portsWith(), { onProgress: () => calledOff.abort(), signal: calledOff.signal });
    await expect(running).rejects.toThrow('aborted');

    const report = await index();

    expect(report).toMatchObject({ files: 2, indexed: 1, unchanged: 1, removed: 0 });
    expect(await find('alpha', report.datasetId)).toEqual(['leave.md']);
    expect(await find('beta', report.datasetId)).toEqual(['pay.txt']);
  });

  describe('when the database refuses', () => {
    const impossible = () => database.query('select 1 / 0');

    it('fails the file that cannot be stored, alone, and logs it', async () => {
      const report = await index(portsWith(refusing('leave.md', impossible)));

      expect(report).toMatchObject({ files: 2, indexed: 1 });
      expect(report.failures).toEqual([
        { path: 'leave.md', message: 'The file could not be stored: division by zero', kept: false },
      ]);
      expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ path: 'leave.md', err: { code: '22012' } }]);
      expect(await find('beta', report.datasetId)).toEqual(['pay.txt']);
    });

    it('keeps the version before of a file that cannot be stored', async () => {
      await index();
      await write('leave.md', '# Leave\nGamma days of leave.');

      const report = await index(portsWith(refusing('leave.md', impossible)));

      expect(report.failures).toMatchObject([{ path: 'leave.md', kept: true }]);
      expect(await find('alpha', report.datasetId)).toEqual(['leave.md']);
    });

    it('ends the run when the database is lost', async () => {
      const lost = () => Promise.reject(new DatabaseLostError('The database cannot be reached.'));

      await expect(index(portsWith(refusing('leave.md', lost)))).rejects.toThrow(DatabaseLostError);
    });

    itOnPostgres('ends the run when its connection is cut', async () => {
      const cut = () => database.query('select pg_terminate_backend(pg_backend_pid())');

      await expect(index(portsWith(refusing('leave.md', cut)))).rejects.toThrow(DatabaseLostError);
    });

    it('ends the run when it was called off meanwhile', async () => {
      const calledOff = new AbortController();
      const ports = portsWith(
        refusing('leave.md', async () => {
          calledOff.abort();
          await impossible();
        }),
      );

      await expect(index(ports, { signal: calledOff.signal })).rejects.toThrow('aborted');
    });
  });

  it('says that a folder holds nothing to read', async () => {
    await rm(join(folder, 'leave.md'));
    await rm(join(folder, 'pay.txt'));

    await expect(index()).rejects.toMatchObject({ name: 'FolderError', code: 'folder_has_no_documents' });
  });

  it('removes the documents of a folder that was emptied', async () => {
    const { datasetId } = await index();
    await rm(join(folder, 'leave.md'));
    await rm(join(folder, 'pay.txt'));

    expect(await index()).toMatchObject({ files: 0, removed: 2 });
    expect(await find('alpha', datasetId)).toEqual([]);
  });

  it('does the work once when two runs start at once', async () => {
    const run = { onProgress: () => {}, signal: new AbortController().signal };

    const reports: FolderReport[] = await Promise.all([
      knowledge.indexFolder(folder, run),
      knowledge.indexFolder(folder, run),
    ]);

    expect(reports).toMatchObject([
      { indexed: 2, unchanged: 0 },
      { indexed: 0, unchanged: 2 },
    ]);
    expect(reports[1]?.datasetId).toBe(reports[0]?.datasetId);
  });

  it('runs after a run that failed', async () => {
    const run = { onProgress: () => {}, signal: new AbortController().signal };

    const [failed, done] = await Promise.allSettled([
      knowledge.indexFolder(join(folder, 'no'), run),
      knowledge.indexFolder(folder, run),
    ]);

    expect([failed?.status, done?.status]).toEqual(['rejected', 'fulfilled']);
  });
});
