/** Holds one conversation for one generation or compaction. */
export interface SessionLease {
  /** Grows with each holder of the conversation; null where one process has the database alone. */
  readonly fence: number | null;
  /** Fires when a stop was asked for (AbortError), and when the lease was lost (LeaseLostError). */
  readonly signal: AbortSignal;
  /** May be called twice; never throws. */
  release(): Promise<void>;
}

/** Tells one holder of a conversation from the next. */
export type Holder = number;

/** One generation or compaction at a time in a conversation (R65). */
export interface SessionLock {
  /** Null where somebody else holds the conversation: the caller refuses at once, it never waits. */
  tryAcquire(chatId: string): Promise<SessionLease | null>;
  /** Asks the holder to stop; its lease's signal fires within a second. Null where nobody holds the conversation. */
  requestStop(chatId: string): Promise<Holder | null>;
  /** Who holds the conversation now: the same holder as before, or another. Null where it is free. */
  holderOf(chatId: string): Promise<Holder | null>;
}

/** The conversation may be somebody else's by now; what was being written for it can no longer be stored (R67). */
export class LeaseLostError extends Error {
  readonly code = 'lease_lost';

  constructor() {
    super('The hold on this conversation was lost: the database could not be reached in time.');
    this.name = 'LeaseLostError';
  }
}

/** The reason of a lease's signal when a person asked to stop. */
export function stopRequested(): DOMException {
  return new DOMException('A stop was asked for.', 'AbortError');
}

/** The mutex of a single process, enough for the embedded database. */
export class InProcessSessionLock implements SessionLock {
  readonly #held = new Map<string, { holder: Holder; controller: AbortController }>();
  #lastHolder = 0;

  async tryAcquire(chatId: string): Promise<SessionLease | null> {
    if (this.#held.has(chatId)) return null;
    const controller = new AbortController();
    this.#lastHolder += 1;
    this.#held.set(chatId, { holder: this.#lastHolder, controller });
    return {
      fence: null,
      signal: controller.signal,
      release: async () => {
        // A second call must not free the next holder.
        if (this.#held.get(chatId)?.controller === controller) this.#held.delete(chatId);
      },
    };
  }

  async requestStop(chatId: string): Promise<Holder | null> {
    const held = this.#held.get(chatId);
    held?.controller.abort(stopRequested());
    return held?.holder ?? null;
  }

  async holderOf(chatId: string): Promise<Holder | null> {
    return this.#held.get(chatId)?.holder ?? null;
  }
}
