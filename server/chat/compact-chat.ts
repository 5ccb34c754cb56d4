import type { ChatContextState, Compacted } from '../../contract/chat.ts';
import type { Application } from '../applications/application.ts';
import { joinSignals } from '../observability/joined-signal.ts';
import { type AskPorts, refuseBusy, tracked } from './ask-question.ts';
import { ChatError } from './chat-error.ts';
import type { ContextStore } from './context/context-store.ts';
import { loadContext } from './context/load-context.ts';
import { LeaseLostError } from './session-lock.ts';

/** What a conversation remembers. */
export async function readContext(contexts: ContextStore, chatId: string): Promise<ChatContextState> {
  const { summary, throughRecordId, compactedRounds, revision } = await contexts.load(chatId);
  return { summary, through_record_id: throughRecordId, compacted_rounds: compactedRounds, revision };
}

/**
 * Compacts a conversation now, by the same threshold as before a question: a short one stays as it is (R68).
 * Throws ChatError `busy` or `compaction_stopped`.
 */
export function compactChat(ports: AskPorts, chat: { chatId: string; application: Application }): Promise<Compacted> {
  return tracked(ports.running, compactNow(ports, chat));
}

async function compactNow(
  ports: AskPorts,
  { chatId, application }: { chatId: string; application: Application },
): Promise<Compacted> {
  const lease = await ports.lock.tryAcquire(chatId);
  if (!lease) throw refuseBusy();
  const { signal, dispose } = joinSignals([ports.shutdown, lease.signal]);
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
    // Whoever lost the lease did not stop anything: that is an error of the server, and told as one.
    if (!signal.aborted || signal.reason instanceof LeaseLostError) throw error;
    ports.log.info({ err: error, chat: chatId }, 'a compaction was stopped');
    throw new ChatError('compaction_stopped', 'The compaction was stopped; what it had merged stays.');
  } finally {
    dispose();
    await lease.release();
  }
}
