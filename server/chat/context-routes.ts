import type { FastifyInstance } from 'fastify';
import { sendData } from '../http/envelope.ts';
import type { AskPorts } from './ask-question.ts';
import { type ChatPath, findChatOfPath } from './chat-of-path.ts';
import { compactChat, readContext } from './compact-chat.ts';
import { stopAnswer } from './stop-answer.ts';

const ADDRESS = '/api/application/:applicationId/chat/:chatId';

/** What a conversation remembers, and stopping what it is busy with (R68, R82). */
export function registerContextRoutes(app: FastifyInstance, ports: AskPorts): void {
  app.get<{ Params: ChatPath }>(`${ADDRESS}/context`, async (request, reply) => {
    const { chat } = await findChatOfPath(ports, request);
    return sendData(request, reply, await readContext(ports.contexts, chat.id));
  });

  app.post<{ Params: ChatPath }>(`${ADDRESS}/context/compact`, async (request, reply) => {
    const { chat, application } = await findChatOfPath(ports, request);
    return sendData(request, reply, await compactChat(ports, { chatId: chat.id, application }));
  });

  app.post<{ Params: ChatPath }>(`${ADDRESS}/stop`, async (request, reply) => {
    const { chat } = await findChatOfPath(ports, request);
    return sendData(request, reply, await stopAnswer(ports, chat.id));
  });

  // Out of the sight of whoever asked; the owner's log keeps it. Deleted first: nothing new begins while it is stopped.
  app.delete<{ Params: ChatPath }>('/api/application/:applicationId/chat/client/:chatId', async (request, reply) => {
    const { chat } = await findChatOfPath(ports, request);
    const wasThere = await ports.store.deleteChat(chat.id);
    await stopAnswer(ports, chat.id);
    return sendData(request, reply, wasThere);
  });
}
