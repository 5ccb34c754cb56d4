import type { ChatContextState, Compacted } from '../../contract/chat.ts';
import type { Application } from '../applications/application.ts';
import { type AskPorts, refuseBusy } from './ask-question.ts';
import { ChatError } from './chat-error.ts';
import type { ContextStore } from './context/context-store.ts';
import { loadContext } from './context/load-context.ts';

/** What a conversation remembers. */
export async function readContext(contexts: ContextStore, chatId: string): Promise<ChatContextState> {
  const { summary, throughRecordId, compactedRounds, revision } = await contexts.load(chatId);
  return { summary, through_record_id: throughRecordId, compacted_rounds: compactedRounds, revision };
}

/**
 * Compacts a conversation now, by the same threshold as before a question: a short one stays as it is (R68).
 * Throws ChatError `busy` or `compaction_stopped`.
 */
export async function compactChat(
  ports: AskPorts,
  { chatId, application }: { chatId: string; application: Application },
): Promise<Compacted> {
  const lease = await ports.lock.tryAcquire(chatId);
  if (!lease) throw refuseBusy();
  const signal = AbortSignal.any([ports.shutdown, lease.signal]);
  try {
    const { info } = await loadContext(
      { ...ports, model: ports.models.auxiliary },
      {
        chatId,
        dialogueNumber: application.dialogueNumber,
        limits: ports.limits,
        fence: lease.fence,
        onCompacting: () => undefined,
        signal,
      },
    );
    const { compacted, compaction_reason } = info;
    return { compacted, compaction_reason, ...(await readContext(ports.contexts, chatId)) };
  } catch (error) {
    if (signal.aborted)
      throw new ChatError('compaction_stopped', 'The compaction was stopped; what it had merged stays.');
    throw error;
  } finally {
    await lease.release();
  }
}
