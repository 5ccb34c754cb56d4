import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageFor } from './messages.ts';

/** The body of every JSON answer (maxkb-v1-api.md section 1.1); `code` 200 is success, everything else an error. */
export interface Envelope {
  code: number;
  message: string;
  data: unknown;
}

/** The front end takes a content type with a charset for something else than JSON (section 3.4). */
export const JSON_CONTENT_TYPE = 'application/json';

/** Answers with `data` and "Success" in the reader's language. */
export function sendData(request: FastifyRequest, reply: FastifyReply, data: unknown): FastifyReply {
  return sendEnvelope(reply, 200, { code: 200, message: messageFor('success', request.language), data });
}

/** Answers with an envelope and exactly `application/json`. */
export function sendEnvelope(reply: FastifyReply, status: number, envelope: Envelope): FastifyReply {
  // A string would get a charset added to its content type; bytes do not.
  return reply
    .code(status)
    .header('content-type', JSON_CONTENT_TYPE)
    .send(Buffer.from(JSON.stringify(envelope)));
}
