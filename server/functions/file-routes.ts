import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendData } from '../http/envelope.ts';
import { percentEncode } from '../text/percent-encode.ts';
import { exportFunction } from './export-function.ts';
import { FunctionError } from './function-error.ts';
import { importFunction } from './import-function.ts';
import { FUNCTION_ADDRESS, type FunctionRouteDeps, idOf, libraryUser, type OfFunction } from './routes.ts';

/** More than any file that `export` writes: code, both lists of fields, and what JSON adds to them. */
const MAX_FILE_BYTES = 900 * 1024;

/** Functions as files, to take elsewhere and back (maxkb-v1-api.md section 9). */
export async function registerFunctionFileRoutes(app: FastifyInstance, deps: FunctionRouteDeps): Promise<void> {
  // In a room of their own: no other route takes a multipart body.
  await app.register((room) => registerRoom(room, deps));
}

async function registerRoom(room: FastifyInstance, { ports: { store }, callerOf }: FunctionRouteDeps): Promise<void> {
  await room.register(multipart, {
    limits: { files: 1, fields: 10, parts: 11, fieldSize: 1024, fileSize: MAX_FILE_BYTES },
  });
  room.get(`${FUNCTION_ADDRESS}/:functionId/export`, async (request: OfFunction, reply) => {
    const file = await exportFunction(store, libraryUser(request, callerOf), idOf(request));
    return sendFile(reply, `${file.function.name}.fx`, JSON.stringify(file));
  });
  room.post(`${FUNCTION_ADDRESS}/import`, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    await importFunction(store, caller, await readUpload(request));
    return sendData(request, reply, true);
  });
}

/** The one file of a multipart body. Throws FunctionError; a body that breaks off is as good as none. */
async function readUpload(request: FastifyRequest): Promise<Buffer> {
  let file: MultipartFile | undefined;
  try {
    file = await request.file();
    if (file) return await file.toBuffer();
  } catch (error) {
    request.log.info({ err: error }, 'an upload could not be read');
    const isTooLarge = (error as { code?: unknown }).code === 'FST_REQ_FILE_TOO_LARGE';
    throw isTooLarge
      ? new FunctionError('function_file_too_large', [MAX_FILE_BYTES])
      : new FunctionError('function_file_missing');
  }
  throw new FunctionError('function_file_missing');
}

function sendFile(reply: FastifyReply, name: string, content: string): FastifyReply {
  return reply
    .header('content-type', 'application/octet-stream')
    .header('content-disposition', `attachment; filename="function.fx"; filename*=UTF-8''${percentEncode(name)}`)
    .send(content);
}
