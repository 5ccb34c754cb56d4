import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { streamAnswerTo } from '../http/answer-stream.ts';
import { sendData } from '../http/envelope.ts';
import { isUuid, pagePath, parseRequest } from '../http/parse-request.ts';
import { openEventStream } from '../http/sse.ts';
import type { AskPorts } from './ask-question.ts';
import { ChatError } from './chat-error.ts';
import { type ChatPath, findChatOfPath } from './chat-of-path.ts';
import { findStream, followAnswer } from './follow-answer.ts';
import { presentRecord } from './present-record.ts';

const ADDRESS = '/api/application/:applicationId/chat/:chatId/chat_record';

type RecordPath = ChatPath & { recordId: string };

const recordsQuery = z.object({
  order_asc: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0']))
    .default('true'),
});

const followHeaders = z.object({
  // Blank where nothing was read yet; `+1`, `0x1` and `1e3` are numbers to JavaScript alone.
  'last-event-id': z
    .string()
    .regex(/^\d{0,9}$/)
    .default('')
    .transform(Number),
});

/** Reading the records of a conversation, and following an answer (maxkb-v1-api.md section 2.7, R74). */
export function registerRecordRoutes(app: FastifyInstance, ports: AskPorts): void {
  app.get<{ Params: RecordPath }>(`${ADDRESS}/:recordId`, async (request, reply) => {
    const { chat } = await findChatOfPath(ports, request);
    const { recordId } = request.params;
    const record = isUuid(recordId) ? await ports.store.findRecord(chat.id, recordId) : null;
    if (!record) throw new ChatError('record_not_found', 'This record does not exist.');
    return sendData(request, reply, presentRecord(record, request.language));
  });

  // Two whole numbers are a page; anything else in their place is no address of ours.
  app.get<{ Params: ChatPath & { page: string; size: string }; Querystring: unknown }>(
    `${ADDRESS}/:page(^\\d+$)/:size(^\\d+$)`,
    async (request, reply) => sendData(request, reply, await readPage(ports, request)),
  );

  app.get<{ Params: RecordPath }>(`${ADDRESS}/:recordId/events`, async (request, reply) =>
    follow(ports, request, reply),
  );
}

async function readPage(ports: AskPorts, request: FastifyRequest<{ Params: ChatPath; Querystring: unknown }>) {
  const { page, size } = parseRequest(pagePath, request.params, request.language);
  const { order_asc } = parseRequest(recordsQuery, request.query, request.language);
  const { chat } = await findChatOfPath(ports, request);
  // The name is MaxKB's and says the opposite: true, and nothing, is newest first.
  const newestFirst = order_asc === 'true' || order_asc === '1';
  const { total, records } = await ports.store.pageRecords(chat.id, { page, size, newestFirst });
  return { total, records: records.map((record) => presentRecord(record, request.language)), current: page, size };
}

/** Whatever can be refused is refused before the stream opens; from there on every error goes into it. */
async function follow(
  ports: AskPorts,
  request: FastifyRequest<{ Params: RecordPath }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { 'last-event-id': after } = parseRequest(followHeaders, request.headers, request.language);
  const { chat } = await findChatOfPath(ports, request);
  const { recordId } = request.params;
  if (!isUuid(recordId)) throw new ChatError('record_not_found', 'This record does not exist.');
  const wanted = { chatId: chat.id, recordId, after };
  await findStream(ports, wanted);
  reply.hijack();
  const stream = openEventStream(reply.raw, { keepAlive: true });
  const deliver = streamAnswerTo(stream, {
    chatId: chat.id,
    recordId,
    agentStatus: true,
    language: request.language,
  });
  try {
    await followAnswer(ports, wanted, {
      deliver: ({ number, event }) => deliver(event, number),
      signal: stream.gone,
    });
  } catch (error) {
    if (!stream.gone.aborted) await failFollower(ports, error, deliver);
  } finally {
    await stream.end();
  }
  return reply;
}

async function failFollower(
  ports: AskPorts,
  error: unknown,
  deliver: ReturnType<typeof streamAnswerTo>,
): Promise<void> {
  ports.log.warn({ err: error }, 'an answer could not be followed');
  const failure = { code: 'internal_error', message: 'The server could not follow this answer; its log says why.' };
  await deliver({ kind: 'answer-failed', error: failure }, null);
}
