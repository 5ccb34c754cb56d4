import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ChatRequest, chatRequest, type StreamError } from '../../contract/chat.ts';
import { exceptionText, streamAnswerTo } from '../http/answer-stream.ts';
import { sendData, sendEnvelope } from '../http/envelope.ts';
import { failureMessage } from '../http/messages.ts';
import { isUuid, pagePath, parseRequest } from '../http/parse-request.ts';
import { openEventStream } from '../http/sse.ts';
import { type AcceptedQuestion, type AskPorts, acceptQuestion, findOwnChat } from './ask-question.ts';
import { ChatError } from './chat-error.ts';
import type { AnswerUsage } from './chat-events.ts';
import { openChat } from './open-chat.ts';
import { presentRecord } from './present-record.ts';

export interface ChatRouteDeps {
  ports: AskPorts;
  /** Whether streams carry named events where the request does not say (R74). */
  agentStatus: boolean;
}

interface RecordsPath {
  applicationId: string;
  chatId: string;
}

const recordsQuery = z.object({
  order_asc: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0']))
    .default('true'),
});

/** Opening a chat, asking in it and reading its records (maxkb-v1-api.md sections 2.6, 2.7 and 3). */
export function registerChatRoutes(app: FastifyInstance, deps: ChatRouteDeps): void {
  const { ports } = deps;
  const recordsAddress = '/api/application/:applicationId/chat/:chatId/chat_record';

  app.get<{ Params: { applicationId: string } }>(
    '/api/application/:applicationId/chat/open',
    async (request, reply) => {
      const { applicationId } = request.params;
      if (!isUuid(applicationId)) throw new ChatError('application_not_found', 'This application does not exist.');
      return sendData(request, reply, await openChat(ports, { applicationId, clientId: request.clientId }));
    },
  );

  app.post<{ Params: { chatId: string } }>(
    '/api/application/chat_message/:chatId',
    { config: { isChat: true } },
    async (request, reply) => {
      const body = parseRequest(chatRequest, request.body, request.language);
      const accepted = await accept(ports, request, body);
      return body.stream ? streamAnswer(accepted, { request, reply, deps }) : sendAnswer(accepted, request, reply);
    },
  );

  app.get<{ Params: RecordsPath & { recordId: string } }>(`${recordsAddress}/:recordId`, async (request, reply) => {
    const chat = await findChatOfPath(ports, request);
    const { recordId } = request.params;
    const record = isUuid(recordId) ? await ports.store.findRecord(chat.id, recordId) : null;
    if (!record) throw new ChatError('record_not_found', 'This record does not exist.');
    return sendData(request, reply, presentRecord(record, request.language));
  });

  // Two whole numbers are a page; anything else in their place is no address of ours.
  app.get<{ Params: RecordsPath & { page: string; size: string }; Querystring: unknown }>(
    `${recordsAddress}/:page(^\\d+$)/:size(^\\d+$)`,
    async (request, reply) => sendData(request, reply, await readPage(ports, request)),
  );
}

async function readPage(ports: AskPorts, request: FastifyRequest<{ Params: RecordsPath; Querystring: unknown }>) {
  const { page, size } = parseRequest(pagePath, request.params, request.language);
  const { order_asc } = parseRequest(recordsQuery, request.query, request.language);
  const chat = await findChatOfPath(ports, request);
  // The name is MaxKB's and says the opposite: true, and nothing, is newest first.
  const newestFirst = order_asc === 'true' || order_asc === '1';
  const { total, records } = await ports.store.pageRecords(chat.id, { page, size, newestFirst });
  return { total, records: records.map((record) => presentRecord(record, request.language)), current: page, size };
}

/** The chat, if it is the caller's and of the application in the path; else it is as unknown as any other (R72). */
async function findChatOfPath(ports: AskPorts, request: FastifyRequest<{ Params: RecordsPath }>) {
  const { applicationId, chatId } = request.params;
  if (isUuid(chatId)) {
    const { chat } = await findOwnChat(ports, { chatId, clientId: request.clientId });
    if (chat.applicationId === applicationId.toLowerCase()) return chat;
  }
  throw unknownChat();
}

function accept(ports: AskPorts, request: FastifyRequest<{ Params: { chatId: string } }>, body: ChatRequest) {
  const { chatId } = request.params;
  if (!isUuid(chatId)) throw unknownChat();
  const { message, re_chat: reChat } = body;
  return acceptQuestion(ports, { chatId, clientId: request.clientId, message, reChat });
}

function unknownChat(): ChatError {
  return new ChatError('chat_not_found', 'This conversation does not exist.');
}

/** The question was accepted before: from here on the status is 200 and every error goes into the stream. */
async function streamAnswer(
  { chatId, recordId, run }: AcceptedQuestion,
  { request, reply, deps }: { request: FastifyRequest; reply: FastifyReply; deps: ChatRouteDeps },
): Promise<FastifyReply> {
  const asked = request.headers['x-agent-status'];
  const agentStatus = asked === 'on' || asked === 'off' ? asked === 'on' : deps.agentStatus;
  reply.hijack();
  const stream = openEventStream(reply.raw, { keepAlive: agentStatus });
  try {
    await run(streamAnswerTo(stream, { chatId, recordId, agentStatus, language: request.language }));
  } finally {
    await stream.end();
  }
  return reply;
}

/** The answer in one piece (maxkb-v1-api.md section 3.5). */
async function sendAnswer(
  { chatId, recordId, run }: AcceptedQuestion,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const answer = await collectAnswer(run);
  const base = { chat_id: chatId, id: recordId, operate: true, is_end: true };
  if (answer.error) {
    const content = exceptionText(answer.error, request.language);
    const data = { ...base, content, completion_tokens: 0, prompt_tokens: 0 };
    return sendEnvelope(reply, 500, { code: 500, message: failureMessage(answer.error, request.language), data });
  }
  const { content, reasoningContent: reasoning_content, usage } = answer;
  return sendData(request, reply, {
    ...base,
    content,
    reasoning_content: '',
    answer_list: [{ content, reasoning_content }],
    completion_tokens: usage.completionTokens,
    prompt_tokens: usage.promptTokens,
  });
}

async function collectAnswer(run: AcceptedQuestion['run']) {
  const answer = {
    content: '',
    reasoningContent: '',
    usage: { promptTokens: 0, completionTokens: 0 } as AnswerUsage,
    error: null as StreamError | null,
  };
  await run((event) => {
    if (event.kind === 'answer-delta') {
      answer.content += event.content;
      answer.reasoningContent += event.reasoningContent;
    } else if (event.kind === 'answer-end') answer.usage = event.usage;
    else if (event.kind === 'answer-failed') answer.error = event.error;
  });
  return answer;
}
