import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import type { PGliteWorkerData, PGliteWorkerMessage } from './open-pglite.ts';

const { dataDir, path } = workerData as PGliteWorkerData;

function tell(message: PGliteWorkerMessage): void {
  parentPort?.postMessage(message);
}

async function serve(): Promise<void> {
  const database = await PGlite.create({ dataDir, extensions: { vector } });
  // One client at a time; the second place lets it connect anew before its lost connection was cleared away.
  const server = new PGLiteSocketServer({ db: database, path, maxConnections: 2 });
  await server.start();
  parentPort?.once('message', async () => {
    await server.stop();
    await database.close();
    parentPort?.close();
  });
  tell({ kind: 'ready' });
}

serve().catch((error: unknown) => {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  parentPort?.close();
});
