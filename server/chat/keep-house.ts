import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChatStore } from './chat-store.ts';
import type { EventStore } from './event-store.ts';

const EVERY_MS = 60_000;

/**
 * Until the shutdown, once a minute: marks what servers that died left running, unless this is the only one of its
 * database, and removes old events and chats that were never used. Never rejects.
 */
export async function keepHouse(
  ports: { store: ChatStore; events: EventStore; shutdown: AbortSignal; log: Logger },
  { alone, everyMs = EVERY_MS }: { alone: boolean; everyMs?: number },
): Promise<void> {
  while (!ports.shutdown.aborted) {
    try {
      if (!alone) await ports.store.interruptRunningRecords({ chatId: null, heldToo: false });
      await ports.events.deleteOld();
      await ports.store.deleteExpiredChats();
    } catch (error) {
      ports.log.warn({ err: error }, 'old events and chats are removed later');
    }
    // Nobody waits for this: a program that has nothing else to do may end.
    await setTimeout(everyMs, undefined, { signal: ports.shutdown, ref: false }).catch(() => undefined);
  }
}
