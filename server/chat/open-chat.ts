import type { ApplicationStore } from '../applications/application-store.ts';
import { ChatError } from './chat-error.ts';
import type { ChatStore } from './chat-store.ts';

/** A chat that was opened and never asked anything is removed after this. */
const UNUSED_CHAT_MINUTES = 30;

/** Opens a conversation of this client with an application. Returns the chat's id. Throws ChatError. */
export async function openChat(
  ports: { store: ChatStore; applications: ApplicationStore },
  { applicationId, clientId }: { applicationId: string; clientId: string },
): Promise<string> {
  const application = await ports.applications.find(applicationId);
  if (!application) throw new ChatError('application_not_found', 'This application does not exist.');
  return ports.store.insertChat({ applicationId, clientId, expireMinutes: UNUSED_CHAT_MINUTES });
}
