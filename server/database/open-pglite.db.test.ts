import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { DatabaseLostError } from './database-lost-error.ts';
import { openDatabase } from './open-database.ts';

describe('the embedded database', () => {
  let folder: string;
  let sockets: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knowhy-test-'));
    sockets = join(folder, 'sockets');
    await mkdir(sockets);
    await cp(inject('pgliteTemplate'), join(folder, 'pglite'), { recursive: true });
    vi.stubEnv('TMPDIR', sockets);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });

  async function open() {
    const lost: Error[] = [];
    const started = once(process, 'worker') as Promise<[Worker]>;
    const database = await openDatabase({ dataDir: join(folder, 'pglite') }, { onLost: (error) => lost.push(error) });
    const [worker] = await started;
    return { database, worker, lost };
  }

  async function socketFolders(): Promise<string[]> {
    return (await readdir(sockets)).filter((name) => name.startsWith('knowhy-'));
  }

  it('tells when its worker dies', async () => {
    const { database, worker, lost } = await open();

    await worker.terminate();

    await vi.waitFor(() => expect(lost).toEqual([expect.any(DatabaseLostError)]));
    await expect(database.query('select 1')).rejects.toThrow(DatabaseLostError);
    await database.close();
  });

  it('names what its worker died of', async () => {
    const { database, worker, lost } = await open();

    worker.emit('error', new Error('disk full'));
    await worker.terminate();

    await vi.waitFor(() => expect(lost[0]?.message).toContain('disk full'));
    await database.close();
  });

  it('fails the transaction that its worker dies under, and nothing else', async () => {
    const { database, worker } = await open();

    const transaction = database.transaction(async () => {
      await database.query('select 1');
      await worker.terminate();
      await database.query('select 1');
    });

    await expect(transaction).rejects.toThrow(DatabaseLostError);
    await database.close();
  });

  it('closes after its worker died, and leaves no socket', async () => {
    const { database, worker } = await open();
    await database.query('select 1');

    await worker.terminate();
    await database.close();

    expect(await socketFolders()).toEqual([]);
  });

  it('is not lost when it is closed', async () => {
    const { database, lost } = await open();
    await database.query('select 1');

    await database.close();

    expect(lost).toEqual([]);
    expect(await socketFolders()).toEqual([]);
  });

  it('is reached whatever the environment says of PostgreSQL', async () => {
    vi.stubEnv('PGSSLMODE', 'require');
    vi.stubEnv('PGHOST', 'nowhere.invalid');
    const { database } = await open();

    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);

    await database.close();
  });

  it('says why a folder cannot be opened, and leaves no socket', async () => {
    await rm(join(folder, 'pglite', 'global'), { recursive: true });

    await expect(open()).rejects.toThrow('cannot be opened');

    expect(await socketFolders()).toEqual([]);
  });
});
