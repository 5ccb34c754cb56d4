import { PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { FolderLine } from '../../contract/folder.ts';
import { parseRequest } from '../http/parse-request.ts';
import { FolderError } from './folder-error.ts';
import type { FolderProgress, FolderReport } from './index-folder.ts';

export interface KnowledgeRoutePorts {
  indexFolder(
    folder: string,
    run: { onProgress(progress: FolderProgress): void; signal: AbortSignal },
  ): Promise<{ report: FolderReport; applicationId: string }>;
  /** Ends an indexing run when the server shuts down. */
  shutdown: AbortSignal;
}

const body = z.object({ folder: z.string().min(1).max(4096) });

/**
 * `POST /api/dataset/folder {folder}`: indexes a folder of this machine for the local user, answering with
 * JSON lines as it goes. Provisional, like the local user: uploads take its place when accounts land.
 */
export function registerKnowledgeRoutes(app: FastifyInstance, ports: KnowledgeRoutePorts): void {
  app.post('/api/dataset/folder', (request, reply) => {
    const { folder } = parseRequest(body, request.body, request.language);
    const lines = new PassThrough();
    const write = (line: FolderLine) => {
      if (!lines.destroyed) lines.write(`${JSON.stringify(line)}\n`);
    };
    ports
      .indexFolder(folder, { onProgress: (progress) => write({ kind: 'progress', progress }), signal: ports.shutdown })
      .then((result) => write({ kind: 'indexed', result }))
      .catch((error: unknown) => {
        request.log.warn({ err: error }, 'a folder could not be indexed');
        const known = error instanceof FolderError;
        write({
          kind: 'failed',
          message: known ? error.message : 'The folder could not be indexed; the log says why.',
        });
      })
      .finally(() => lines.end());
    return reply.type('application/x-ndjson').send(lines);
  });
}
