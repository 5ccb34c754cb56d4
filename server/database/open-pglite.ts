import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../observability/start-worker.ts';
import type { Database } from './database.ts';
import { PostgresDatabase } from './postgres-database.ts';

const SOCKET_PORT = 5432;

/** What the worker is started with and what it answers. */
export interface PGliteWorkerData {
  dataDir: string;
  listen: { path: string } | { host: string; port: number };
}
export type PGliteWorkerMessage =
  | { kind: 'ready'; port: number | null }
  | { kind: 'failed'; message: string }
  | { kind: 'closed' };

/**
 * Opens PGlite in a worker thread (a long statement would stop the event loop) and speaks to it with the
 * same driver as to PostgreSQL, over a private socket. One connection only: with two, PGlite 0.5.14 mixes
 * up their statements (measured 2026-12-01).
 */
export async function openPGlite(dataDir: string): Promise<Database> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // A socket path may have some 100 bytes, so it cannot live in the data folder; 0700 keeps others out.
  const socketDir = await mkdtemp(join(tmpdir(), 'knowhy-'));
  try {
    const listen =
      process.platform === 'win32'
        ? { host: '127.0.0.1', port: 0 }
        : { path: join(socketDir, `.s.PGSQL.${SOCKET_PORT}`) };
    const workerData: PGliteWorkerData = { dataDir, listen };
    const worker = startWorker(new URL('./pglite-worker.ts', import.meta.url), { workerData });
    const port = await ready(worker);
    return new PostgresDatabase(
      'pglite',
      {
        host: port === null ? socketDir : '127.0.0.1',
        port: port ?? SOCKET_PORT,
        user: 'postgres',
        database: 'postgres',
        max: 1,
        idleTimeoutMillis: 0,
      },
      async () => {
        await shutDown(worker);
        await rm(socketDir, { recursive: true, force: true });
      },
    );
  } catch (error) {
    await rm(socketDir, { recursive: true, force: true });
    throw error;
  }
}

/** Resolves with the TCP port, or null for a unix socket. */
async function ready(worker: Worker): Promise<number | null> {
  const exited = once(worker, 'exit').then(() => {
    throw new Error('The embedded database ended while it was starting.');
  });
  const [message] = (await Promise.race([once(worker, 'message'), exited])) as [PGliteWorkerMessage];
  if (message.kind === 'ready') return message.port;
  await worker.terminate();
  const why = message.kind === 'failed' ? message.message : 'it closed at once';
  throw new Error(`The embedded database cannot be opened: ${why}`);
}

async function shutDown(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit');
  worker.postMessage('close');
  await exited;
}
