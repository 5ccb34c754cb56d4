import { setTimeout } from 'node:timers/promises';
import { ChatError } from './chat-error.ts';
import type { ChatEvent } from './chat-events.ts';
import type { ChatStore } from './chat-store.ts';
import type { EventStore, NumberedEvent } from './event-store.ts';
import type { SessionLock } from './session-lock.ts';

/** Between two looks at the database, in ms. */
const POLL_MS = 200;
/** An end is told once the conversation is free (R66); a holder that died keeps it for its lease at most. In ms. */
const FREE_WITHIN_MS = 10_000;

const INTERRUPTED: ChatEvent = {
  kind: 'answer-failed',
  error: { code: 'interrupted', message: 'The server was restarted while it answered; ask again.' },
};

const SERVER_STOPPING: ChatEvent = {
  kind: 'answer-failed',
  error: { code: 'server_stopping', message: 'The server is stopping; follow the answer again in a moment.' },
};

export interface FollowPorts {
  store: Pick<ChatStore, 'findRecord' | 'interruptRunningRecords'>;
  events: EventStore;
  lock: Pick<SessionLock, 'isHeld'>;
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
  while (!signal.aborted) {
    // The state is read first: an end is stored together with it, so that it is in the events read after.
    const isOver = await hasEnded(ports, request);
    for (const numbered of await ports.events.listAfter(request.recordId, after)) {
      if (isEnd(numbered.event)) return finish(ports, request, { deliver, numbered, signal });
      await deliver(numbered);
      after = numbered.number ?? after;
    }
    if (isOver) return deliver(await lastEvent(ports, request));
    await setTimeout(POLL_MS, undefined, { signal: AbortSignal.any([signal, ports.shutdown]) }).catch(() => undefined);
    if (ports.shutdown.aborted && !signal.aborted) return deliver({ number: null, event: SERVER_STOPPING });
  }
}

/** A record that runs while nobody holds its conversation was left by a crash (R81). */
async function hasEnded(ports: FollowPorts, { chatId, recordId }: FollowRequest): Promise<boolean> {
  const state = async () => (await ports.store.findRecord(chatId, recordId))?.state;
  if ((await state()) !== 'running') return true;
  if (await ports.lock.isHeld(chatId)) return false;
  // It may just have ended; only what still runs is left over.
  if ((await state()) !== 'running') return true;
  await ports.store.interruptRunningRecords({ chatId, heldToo: false });
  return true;
}

async function finish(
  ports: FollowPorts,
  { chatId }: FollowRequest,
  end: { numbered: NumberedEvent; deliver(numbered: NumberedEvent): Promise<void> | void; signal: AbortSignal },
): Promise<void> {
  const deadlineMs = performance.now() + FREE_WITHIN_MS;
  while (!end.signal.aborted && performance.now() < deadlineMs && (await ports.lock.isHeld(chatId))) {
    await setTimeout(20);
  }
  await end.deliver(end.numbered);
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
