import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ChatRequest, chatRequest, type StreamError } from '../../contract/chat.ts';
import { exceptionText, streamAnswerTo } from '../http/answer-stream.ts';
import { sendData, sendEnvelope } from '../http/envelope.ts';
import { failureMessage } from '../http/messages.ts';
import { isUuid, parseRequest } from '../http/parse-request.ts';
import { openEventStream } from '../http/sse.ts';
import { type AcceptedQuestion, type AskPorts, acceptQuestion } from './ask-question.ts';
import { ChatError } from './chat-error.ts';
import type { AnswerUsage } from './chat-events.ts';
import { unknownChat } from './chat-of-path.ts';
import { registerContextRoutes } from './context-routes.ts';
import { openChat } from './open-chat.ts';
import { registerRecordRoutes } from './record-routes.ts';

export interface ChatRouteDeps {
  ports: AskPorts;
  /** Whether streams carry named events where the request does not say (R74). */
  agentStatus: boolean;
}

/** Everything about a conversation: opening it, asking in it, its records and its memory (maxkb-v1-api.md sections 2.6, 2.7 and 3). */
export function registerChatRoutes(app: FastifyInstance, deps: ChatRouteDeps): void {
  const { ports } = deps;
  registerRecordRoutes(app, ports);
  registerContextRoutes(app, ports);

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
}

function accept(ports: AskPorts, request: FastifyRequest<{ Params: { chatId: string } }>, body: ChatRequest) {
  const { chatId } = request.params;
  if (!isUuid(chatId)) throw unknownChat();
  const { message, re_chat: reChat } = body;
  return acceptQuestion(ports, { chatId, clientId: request.clientId, message, reChat });
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
