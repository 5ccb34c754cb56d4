import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { within } from '../observability/joined-signal.ts';
import type { LeaseStore } from './lease-store.ts';
import { type Holder, LeaseLostError, type SessionLease, type SessionLock, stopRequested } from './session-lock.ts';

/** Times of a lease in ms. */
export interface LeaseTimings {
  /** How long a lease outlives its last renewal: a crash frees the conversation after that (R67: within 10 s). */
  ttlMs: number;
  /** Between two renewals, which also bring a stop: it has to arrive within a second. */
  beatMs: number;
}

const TIMINGS: LeaseTimings = { ttlMs: 8000, beatMs: 400 };

/** A statement that hangs in a dead connection must not keep the next beat, or an answer's end, waiting. In ms. */
const STATEMENT_MS = 2000;

/** The mutex of several servers on one PostgreSQL: a lease row with a fence, renewed while it is held (R67). */
export class LeaseSessionLock implements SessionLock {
  readonly #store: LeaseStore;
  readonly #log: Logger;
  readonly #timings: LeaseTimings;
  /** Of this process; tells whose lease it is when looking into the table. */
  readonly #owner = uuidv7();

  constructor(store: LeaseStore, { log, timings = TIMINGS }: { log: Logger; timings?: LeaseTimings }) {
    this.#store = store;
    this.#log = log;
    this.#timings = timings;
  }

  async tryAcquire(chatId: string): Promise<SessionLease | null> {
    const takenMs = performance.now();
    const fence = await this.#store.take(chatId, { owner: this.#owner, ttlMs: this.#timings.ttlMs });
    if (fence === null) return null;
    return new HeldLease({ store: this.#store, log: this.#log, timings: this.#timings, chatId, fence, takenMs });
  }

  requestStop(chatId: string): Promise<Holder | null> {
    return this.#store.requestStop(chatId);
  }

  holderOf(chatId: string): Promise<Holder | null> {
    return this.#store.findFence(chatId);
  }
}

interface Held {
  store: LeaseStore;
  log: Logger;
  timings: LeaseTimings;
  chatId: string;
  fence: number;
  /** When the lease was asked for, on this process's steady clock. */
  takenMs: number;
}

class HeldLease implements SessionLease {
  readonly #held: Held;
  readonly #controller = new AbortController();
  #beat: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  /** Given back or lost: no more beats. */
  #isOver = false;
  #release: Promise<void> | undefined;

  constructor(held: Held) {
    this.#held = held;
    this.#holdUntil(held.takenMs + held.timings.ttlMs);
    this.#scheduleBeat();
  }

  get fence(): number {
    return this.#held.fence;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Also a lost lease is freed: a renewal that came late may have prolonged it. */
  release(): Promise<void> {
    this.#end();
    this.#release ??= this.#free();
    return this.#release;
  }

  async #free(): Promise<void> {
    const { store, chatId, fence, log } = this.#held;
    try {
      await within(STATEMENT_MS, 'Freeing a conversation', store.free(chatId, fence));
    } catch (error) {
      log.warn({ err: error, chat: chatId }, 'a conversation could not be freed; its lease runs out by itself');
    }
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#beat);
    clearTimeout(this.#deadline);
  }

  /** Counted from before the statement was sent, so that this side gives up before the database does. */
  #holdUntil(atMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#lose(), atMs - performance.now());
    this.#deadline.unref();
  }

  #scheduleBeat(): void {
    this.#beat = setTimeout(() => void this.#renew(), this.#held.timings.beatMs);
    this.#beat.unref();
  }

  /** A database that is away for a moment is asked again at the next beat, until the deadline. Never throws. */
  async #renew(): Promise<void> {
    const { store, chatId, fence, timings, log } = this.#held;
    const sentMs = performance.now();
    try {
      const renewal = store.renew(chatId, { fence, ttlMs: timings.ttlMs });
      const renewed = await within(STATEMENT_MS, 'Renewing a lease', renewal);
      if (this.#isOver) return;
      if (renewed === null) return this.#lose();
      this.#holdUntil(sentMs + timings.ttlMs);
      if (renewed.stopRequested) this.#controller.abort(stopRequested());
    } catch (error) {
      log.warn({ err: error, chat: chatId }, 'a lease could not be renewed; trying again');
    }
    if (!this.#isOver) this.#scheduleBeat();
  }

  #lose(): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller.abort(new LeaseLostError());
  }
}
