import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { LeaseStore } from './lease-store.ts';
import { LeaseLostError, type SessionLease, type SessionLock, stopRequested } from './session-lock.ts';

/** Times of a lease in ms. */
export interface LeaseTimings {
  /** How long a lease outlives its last renewal: a crash frees the conversation after that (R67: within 10 s). */
  ttlMs: number;
  /** Between two renewals, which also bring a stop: it has to arrive within a second. */
  beatMs: number;
}

const TIMINGS: LeaseTimings = { ttlMs: 8000, beatMs: 400 };

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

  requestStop(chatId: string): Promise<boolean> {
    return this.#store.requestStop(chatId);
  }

  isHeld(chatId: string): Promise<boolean> {
    return this.#store.isHeld(chatId);
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
  #released = false;

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

  async release(): Promise<void> {
    if (this.#released) return;
    this.#end();
    const { store, chatId, fence, log } = this.#held;
    try {
      await store.free(chatId, fence);
    } catch (error) {
      log.warn({ err: error, chat: chatId }, 'a conversation could not be freed; its lease runs out by itself');
    }
  }

  #end(): void {
    this.#released = true;
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
      const renewed = await store.renew(chatId, { fence, ttlMs: timings.ttlMs });
      if (this.#released) return;
      if (renewed === null) return this.#lose();
      this.#holdUntil(sentMs + timings.ttlMs);
      if (renewed.stopRequested) this.#controller.abort(stopRequested());
    } catch (error) {
      log.warn({ err: error, chat: chatId }, 'a lease could not be renewed; trying again');
    }
    if (!this.#released) this.#scheduleBeat();
  }

  #lose(): void {
    if (this.#released) return;
    this.#end();
    this.#controller.abort(new LeaseLostError());
  }
}
