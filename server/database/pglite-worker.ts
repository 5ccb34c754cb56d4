import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import type { PGliteWorkerData, PGliteWorkerMessage } from './open-pglite.ts';

const { dataDir, listen } = workerData as PGliteWorkerData;

function tell(message: PGliteWorkerMessage): void {
  parentPort?.postMessage(message);
}

async function serve(): Promise<void> {
  const database = await PGlite.create({ dataDir, extensions: { vector } });
  const server = new PGLiteSocketServer({ db: database, ...listen });
  await server.start();
  parentPort?.once('message', async () => {
    await server.stop();
    await database.close();
    tell({ kind: 'closed' });
    parentPort?.close();
  });
  tell({ kind: 'ready', port: 'path' in listen ? null : portOf(server) });
}

function portOf(server: PGLiteSocketServer): number {
  return Number(server.getServerConn().split(':').at(-1));
}

serve().catch((error: unknown) => {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  parentPort?.close();
});
