import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
  /** Between two blank lines in ms, 15,000 unless given. */
  keepAliveMs?: number;
}

/** Clients give up on a silent connection (fetch of Node after 300 s), and one large file can take longer. */
const KEEP_ALIVE_MS = 15_000;

const body = z.object({ folder: z.string().min(1).max(4096) });

/**
 * `POST /api/dataset/folder {folder}`: indexes a folder of this machine for the local user, answering with
 * JSON lines as it goes, and blank ones while there is nothing to say. A client that leaves does not end the
 * indexing. Provisional, like the local user: uploads take its place when accounts land.
 */
export function registerKnowledgeRoutes(app: FastifyInstance, ports: KnowledgeRoutePorts): void {
  app.post('/api/dataset/folder', (request, reply) => {
    const { folder } = parseRequest(body, request.body, request.language);
    const lines = openLines(ports.keepAliveMs ?? KEEP_ALIVE_MS);
    ports
      .indexFolder(folder, {
        onProgress: (progress) => lines.hint({ kind: 'progress', progress }),
        signal: ports.shutdown,
      })
      .then((result): FolderLine => ({ kind: 'indexed', result }))
      .catch((error: unknown) => failedLine(error, { log: request.log, isStopping: ports.shutdown.aborted }))
      .then((last) => lines.end(last));
    return reply.type('application/x-ndjson').send(lines.stream);
  });
}

/**
 * Lines of JSON over a stream that starts with a blank line and gets one every `keepAliveMs` until it ends or its
 * reader leaves. `hint` may be dropped where the reader is behind; the line of `end` is not.
 */
function openLines(keepAliveMs: number) {
  const stream = new PassThrough();
  const hint = (text: string): void => {
    // A reader that takes nothing must not fill the memory with progress.
    if (stream.writable && !stream.writableNeedDrain) stream.write(text);
  };
  hint('\n');
  const keepAlive = setInterval(() => hint('\n'), keepAliveMs);
  // Also when the reader leaves: the framework then destroys the stream.
  stream.on('close', () => clearInterval(keepAlive));
  return {
    stream,
    hint: (line: FolderLine) => hint(`${JSON.stringify(line)}\n`),
    end: (line: FolderLine) => {
      clearInterval(keepAlive);
      if (stream.writable) stream.end(`${JSON.stringify(line)}\n`);
    },
  };
}

function failedLine(error: unknown, run: { log: FastifyRequest['log']; isStopping: boolean }): FolderLine {
  if (run.isStopping) {
    run.log.info({ err: error }, 'indexing a folder was cancelled');
    return { kind: 'failed', message: 'The server is stopping; what was indexed stays.' };
  }
  run.log.warn({ err: error }, 'a folder could not be indexed');
  const known = error instanceof FolderError;
  return { kind: 'failed', message: known ? error.message : 'The folder could not be indexed; the log says why.' };
}
