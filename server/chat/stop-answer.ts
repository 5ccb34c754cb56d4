import { setTimeout } from 'node:timers/promises';
import type { ChatStore } from './chat-store.ts';
import type { SessionLock } from './session-lock.ts';

/** A holder hears of a stop within a second and stores what it has; one that died is gone after its lease. In ms. */
const WAIT_MS = 10_000;
const POLL_MS = 25;

/**
 * `stopped`: something was cut short; false where nothing ran, and where it was done before it heard of the stop.
 * `running`: it has not ended within 10 s; a follow-up would still be refused as busy.
 */
export interface Stopped {
  stopped: boolean;
  running: boolean;
}

/**
 * Stops the answer or compaction that a conversation is busy with, on whichever server, and waits until the
 * conversation is free. Nothing to stop is no error. Throws what the database throws.
 */
export async function stopAnswer(
  { lock, store }: { lock: SessionLock; store: Pick<ChatStore, 'findRunningRecord' | 'findRecordState'> },
  chatId: string,
): Promise<Stopped> {
  const before = await store.findRunningRecord(chatId);
  const holder = await lock.requestStop(chatId);
  if (holder === null) return { stopped: false, running: false };
  // Another answer may have begun in between; one that is done by now is not found any more.
  const recordId = (await store.findRunningRecord(chatId)) ?? before;
  const deadlineMs = performance.now() + WAIT_MS;
  while (performance.now() < deadlineMs) {
    // Somebody who came after is not what was to be stopped.
    if ((await lock.holderOf(chatId)) !== holder) {
      const state = recordId === null ? null : await store.findRecordState(recordId);
      return { stopped: state !== 'done', running: false };
    }
    await setTimeout(POLL_MS);
  }
  return { stopped: true, running: true };
}
