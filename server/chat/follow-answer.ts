import { setTimeout } from 'node:timers/promises';
import { joinSignals } from '../observability/joined-signal.ts';
import { ChatError } from './chat-error.ts';
import type { ChatEvent } from './chat-events.ts';
import type { ChatStore } from './chat-store.ts';
import type { EventStore, NumberedEvent } from './event-store.ts';
import type { Holder, SessionLock } from './session-lock.ts';

/** Between two looks at the database, in ms. */
const POLL_MS = 200;
/** An end is told once its holder has let go (R66), which comes right after it was stored. In ms. */
const FREE_WITHIN_MS = 3000;

const INTERRUPTED: ChatEvent = {
  kind: 'answer-failed',
  error: { code: 'interrupted', message: 'The server was restarted while it answered; ask again.' },
};

const SERVER_STOPPING: ChatEvent = {
  kind: 'answer-failed',
  error: { code: 'server_stopping', message: 'The server is stopping; follow the answer again in a moment.' },
};

export interface FollowPorts {
  store: Pick<ChatStore, 'findRecord' | 'findRecordState' | 'interruptRunningRecords'>;
  events: EventStore;
  lock: Pick<SessionLock, 'holderOf'>;
  shutdown: AbortSignal;
}

export interface FollowRequest {
  chatId: string;
  recordId: string;
  /** The last number the reader has; 0 for everything. */
  after: number;
}

/**
 * Looks for the stream of an answer that runs or ended within the last hour. Throws ChatError where the record is
 * unknown or its events are gone; then the record itself has the answer.
 */
export async function findStream(ports: FollowPorts, { chatId, recordId }: FollowRequest): Promise<void> {
  const record = await ports.store.findRecord(chatId, recordId);
  if (!record) throw new ChatError('record_not_found', 'This record does not exist.');
  if (record.state === 'running' || record.state === 'interrupted') return;
  if (!(await ports.events.hasAny(recordId))) {
    throw new ChatError('events_gone', 'The stream of this answer is not kept any more; read the record.');
  }
}

/**
 * Replays the events of an answer after a number and follows it to its end, wherever it is written. The last event
 * is always `answer-end` or `answer-failed`, also where the server that answered died. Ends early, without one, when
 * `signal` fires; throws what `deliver` and the database throw.
 */
export async function followAnswer(
  ports: FollowPorts,
  request: FollowRequest,
  { deliver, signal }: { deliver(numbered: NumberedEvent): Promise<void> | void; signal: AbortSignal },
): Promise<void> {
  let { after } = request;
  let holder: Holder | null = null;
  const either = joinSignals([signal, ports.shutdown]);
  try {
    while (!either.signal.aborted) {
      // The state is read first: an end is stored together with it, so that it is in the events read after.
      const state = await stateOf(ports, request);
      holder = state.holder ?? holder;
      for (const numbered of await ports.events.listAfter(request.recordId, after)) {
        if (isEnd(numbered.event)) await untilFree(ports, request.chatId, { holder, signal: either.signal });
        await deliver(numbered);
        if (isEnd(numbered.event)) return;
        after = numbered.number ?? after;
      }
      if (state.isOver) return deliver(await lastEvent(ports, request));
      await setTimeout(POLL_MS, undefined, { signal: either.signal }).catch(() => undefined);
    }
    if (!signal.aborted) await deliver({ number: null, event: SERVER_STOPPING });
  } finally {
    either.dispose();
  }
}

/** A record that runs while nobody holds its conversation was left by a crash (R81). */
async function stateOf(
  ports: FollowPorts,
  { chatId, recordId }: FollowRequest,
): Promise<{ isOver: boolean; holder: Holder | null }> {
  if ((await ports.store.findRecordState(recordId)) !== 'running') return { isOver: true, holder: null };
  const holder = await ports.lock.holderOf(chatId);
  if (holder !== null) return { isOver: false, holder };
  // It may just have ended, or be held again; what still runs is left over.
  await ports.store.interruptRunningRecords({ chatId, heldToo: false });
  return { isOver: (await ports.store.findRecordState(recordId)) !== 'running', holder: null };
}

/** Waits for the holder that was seen at work; where none was, the answer ended earlier. */
async function untilFree(
  ports: FollowPorts,
  chatId: string,
  { holder, signal }: { holder: Holder | null; signal: AbortSignal },
): Promise<void> {
  if (holder === null) return;
  const deadlineMs = performance.now() + FREE_WITHIN_MS;
  while (!signal.aborted && performance.now() < deadlineMs && (await ports.lock.holderOf(chatId)) === holder) {
    await setTimeout(20);
  }
}

/** For a reader that has the end already, or an answer whose server died before it could write one. */
async function lastEvent(ports: FollowPorts, { recordId }: FollowRequest): Promise<NumberedEvent> {
  const last = (await ports.events.listAfter(recordId, 0)).at(-1);
  if (last && isEnd(last.event)) return last;
  return { number: null, event: INTERRUPTED };
}

function isEnd(event: ChatEvent): boolean {
  return event.kind === 'answer-end' || event.kind === 'answer-failed';
}
