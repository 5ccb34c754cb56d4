import type { FastifyRequest } from 'fastify';
import { isUuid } from '../http/parse-request.ts';
import { type AskPorts, findOwnChat } from './ask-question.ts';
import { ChatError } from './chat-error.ts';

export interface ChatPath {
  applicationId: string;
  chatId: string;
}

/**
 * The chat of an address, with its application, if it is the caller's and of the application in the path; else it is
 * as unknown as any other (R72, R73). Throws ChatError.
 */
export async function findChatOfPath(ports: AskPorts, request: FastifyRequest<{ Params: ChatPath }>) {
  const { applicationId, chatId } = request.params;
  if (isUuid(chatId)) {
    const found = await findOwnChat(ports, { chatId, clientId: request.clientId });
    if (found.chat.applicationId === applicationId.toLowerCase()) return found;
  }
  throw unknownChat();
}

/** Not there, not the caller's, or not of that application: nobody is told which. */
export function unknownChat(): ChatError {
  return new ChatError('chat_not_found', 'This conversation does not exist.');
}
