import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../observability/start-worker.ts';
import type { Database } from './database.ts';
import { DatabaseLostError } from './database-lost-error.ts';
import { PostgresDatabase } from './postgres-database.ts';

/** What the worker is started with and what it answers. `path`: the socket or named pipe it listens on. */
export interface PGliteWorkerData {
  dataDir: string;
  path: string;
}
export type PGliteWorkerMessage = { kind: 'ready' } | { kind: 'failed'; message: string };

export interface OpenPGliteOptions {
  /** The worker thread ended and nobody had asked it to; every statement fails from here on. Called once at most. */
  onLost?(error: DatabaseLostError): void;
}

/**
 * Opens PGlite in a worker thread (a long statement would stop the event loop) and speaks to it with the
 * same driver as to PostgreSQL, over a private socket. One connection only: with two, PGlite 0.5.14 mixes
 * up their statements (measured 2026-12-01). Throws when the folder cannot be opened.
 */
export async function openPGlite(dataDir: string, { onLost }: OpenPGliteOptions = {}): Promise<Database> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await refuseDamaged(dataDir);
  const { path, remove } = await makeSocketPath(dataDir);
  try {
    const server = new PGliteServer({ dataDir, path }, onLost);
    await server.start();
    const config = {
      stream: () => socketTo(path),
      ssl: false,
      user: 'postgres',
      database: 'postgres',
      max: 1,
      idleTimeoutMillis: 0,
    };
    return new PostgresDatabase('pglite', config, async () => {
      try {
        await server.stop();
      } finally {
        await remove();
      }
    });
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * A path that other users of this machine cannot write to. A folder of mode 0700 keeps them out; it cannot be in the
 * data folder, because a socket's path may have some 100 bytes. A pipe of Windows has no folder, but by default only
 * its owner and administrators may write to it (learn.microsoft.com, "Named Pipe Security and Access Rights").
 */
async function makeSocketPath(dataDir: string): Promise<{ path: string; remove(): Promise<void> }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\knowhy-${randomUUID()}`, remove: async () => {} };
  const prefix = `knowhy-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}-`;
  await removeLeftOver(prefix);
  const folder = await mkdtemp(join(tmpdir(), prefix));
  return { path: join(folder, 'socket'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The caller holds the data folder, so a socket folder of it that exists already belongs to a process that was killed. */
async function removeLeftOver(prefix: string): Promise<void> {
  const names = await readdir(tmpdir());
  const leftOver = names.filter((name) => name.startsWith(prefix));
  await Promise.all(leftOver.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

/** PGlite would make a new, empty database over the rest of an old one that lost its version file. */
async function refuseDamaged(dataDir: string): Promise<void> {
  const isThere = (name: string) =>
    access(join(dataDir, name)).then(
      () => true,
      () => false,
    );
  if ((await isThere('global/pg_control')) && !(await isThere('PG_VERSION'))) {
    throw new Error(
      `${dataDir} is damaged: PG_VERSION is missing. Put it back from a backup, or move the folder away.`,
    );
  }
}

/** The driver connects its socket to a host and a port; this one goes to `path`, whatever it is told. */
function socketTo(path: string): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  socket.connect = () => connect(path);
  return socket;
}

/** The worker thread and how it ends. */
class PGliteServer {
  readonly #worker: Worker;
  /** Kept from the start: a thread that has ended emits no second `exit`. */
  readonly #exited: Promise<DatabaseLostError>;
  /** Whether an exit would be a surprise. */
  #isServing = false;

  constructor(workerData: PGliteWorkerData, onLost: OpenPGliteOptions['onLost']) {
    const worker = startWorker(new URL('./pglite-worker.ts', import.meta.url), { workerData });
    let cause: unknown;
    // Without a listener, what the worker dies of would end this process.
    worker.on('error', (error: unknown) => {
      cause = error;
    });
    this.#worker = worker;
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        const why = cause instanceof Error ? `: ${cause.message}` : '.';
        const error = new DatabaseLostError(`The embedded database ended unexpectedly${why}`, { cause });
        resolve(error);
        if (this.#isServing) onLost?.(error);
      });
    });
  }

  /** Resolves once statements are taken. */
  async start(): Promise<void> {
    const told = new Promise<PGliteWorkerMessage>((resolve) => {
      this.#worker.once('message', resolve);
    });
    const first = await Promise.race([told, this.#exited]);
    if (first instanceof DatabaseLostError) throw first;
    if (first.kind === 'failed') {
      await this.#worker.terminate();
      throw new Error(`The embedded database cannot be opened: ${first.message}`);
    }
    this.#isServing = true;
  }

  /** Resolves once the thread has ended, which may have been long ago. */
  async stop(): Promise<void> {
    this.#isServing = false;
    this.#worker.postMessage('close');
    await this.#exited;
  }
}
