/** Holds one conversation for one generation; `release` may be called twice and never throws. */
export interface SessionLease {
  release(): Promise<void>;
}

/** One generation at a time in a conversation (R65). */
export interface SessionLock {
  /** Null where somebody else holds the conversation: the caller refuses at once, it never waits. */
  tryAcquire(chatId: string): Promise<SessionLease | null>;
}

/** The mutex of a single process, enough for the embedded database. */
export class InProcessSessionLock implements SessionLock {
  readonly #held = new Set<string>();

  async tryAcquire(chatId: string): Promise<SessionLease | null> {
    if (this.#held.has(chatId)) return null;
    this.#held.add(chatId);
    let released = false;
    return {
      release: async () => {
        if (!released) this.#held.delete(chatId);
        released = true;
      },
    };
  }
}
