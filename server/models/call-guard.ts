import { ModelError } from './model-error.ts';

/** All in ms. Above 300,000 the HTTP client's own limits on headers and body come first. */
export interface Timeouts {
  /** From sending a request to its response headers; a non-streaming provider sends them with the finished answer. */
  headersMs: number;
  /** Between two reads of a response body, keep-alive comments included. */
  idleMs: number;
  /** The whole call with its retries. */
  totalMs: number;
}

export const defaultTimeouts: Timeouts = { headersMs: 60_000, idleMs: 60_000, totalMs: 300_000 };

/**
 * Watches over one call: the caller's signal, the total deadline and the limits of the phase it is in all end in one
 * abort signal, and `failure` says which it was. Its owner must call `dispose`, which also closes whatever is open.
 */
export class CallGuard {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timeouts: Timeouts;
  readonly #endsAt: number;
  readonly #totalTimer: NodeJS.Timeout;
  #failure: ModelError | undefined;

  constructor(caller: AbortSignal, timeouts: Timeouts) {
    this.#caller = caller;
    this.#timeouts = timeouts;
    this.#endsAt = performance.now() + timeouts.totalMs;
    this.#totalTimer = setTimeout(() => this.#end(timedOut('total', timeouts.totalMs)), timeouts.totalMs);
    caller.addEventListener('abort', this.#onCallerAbort);
    if (caller.aborted) this.#onCallerAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call is over, or undefined while it may go on. */
  get failure(): ModelError | undefined {
    return this.#failure;
  }

  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Throws when the call is over already. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Runs `work` under the limit of `phase`. Rejects with the failure as soon as the call is over. */
  async watch<T>(phase: 'headers' | 'idle', work: () => Promise<T>): Promise<T> {
    this.check();
    const limitMs = phase === 'headers' ? this.#timeouts.headersMs : this.#timeouts.idleMs;
    const timer = setTimeout(() => this.#end(timedOut(phase, limitMs)), limitMs);
    try {
      return await this.race(work());
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for `work`, but no longer than the call lasts; a later rejection of `work` is nobody's business. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => reject(this.#failure);
      const stop = (): void => this.signal.removeEventListener('abort', onAbort);
      this.signal.addEventListener('abort', onAbort);
      if (this.signal.aborted) onAbort();
      work.then(
        (value) => {
          stop();
          resolve(value);
        },
        (error: unknown) => {
          stop();
          // An abort shows in `work` as an error of the transport, sometimes first.
          reject(this.#failure ?? error);
        },
      );
    });
  }

  /** Sleeps; rejects with the failure when the call ends meanwhile. */
  async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await this.race(
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, ms);
        }),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  dispose(): void {
    clearTimeout(this.#totalTimer);
    // A signal may outlive thousands of calls; a listener left on it would keep each of them in memory.
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
    this.#controller.abort();
  }

  readonly #onCallerAbort = (): void => {
    this.#end(new ModelError({ code: 'aborted', message: 'The model call was cancelled.', retryable: false }));
  };

  #end(failure: ModelError): void {
    this.#failure ??= failure;
    this.#controller.abort();
  }
}

function timedOut(limit: 'headers' | 'idle' | 'total', ms: number): ModelError {
  const seconds = `${ms / 1000} s`;
  const messages = {
    headers: `The model service did not begin to answer within ${seconds}. Check that the service is running and not overloaded, or raise the time limit.`,
    idle: `The model service stopped sending for ${seconds} in the middle of an answer. Check the service and any proxy before it.`,
    total: `The model call took longer than ${seconds} in all. Use a faster model or raise the time limit.`,
  };
  return new ModelError({ code: 'timeout', message: messages[limit], retryable: true });
}
