import { SandboxError } from '../sandbox-error.ts';

export interface RunQueueOptions {
  /** Runs at the same time. */
  concurrency: number;
  /** Runs that may wait, of all callers and of one. */
  maxWaiting: number;
  maxWaitingOfOne: number;
  maxWaitMs: number;
}

interface Waiter {
  caller: string;
  admit(): void;
}

/**
 * Admits so many runs at a time. Those that wait are admitted in turns of their callers, first come first served within
 * one, so that a caller with many runs delays only its own. Over the bounds: `sandbox_busy` (R99).
 */
export class RunQueue {
  readonly #options: RunQueueOptions;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  #running = 0;

  constructor(options: RunQueueOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, waiters) => sum + waiters.length, 0);
  }

  /**
   * Resolves with a function that gives the place back, to be called once; null where the signal fired first.
   * Throws SandboxError `sandbox_busy`.
   */
  async acquire(caller: string, signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null;
    if (this.#running < this.#options.concurrency) {
      this.#running += 1;
      return () => this.#release();
    }
    const own = this.#waiting.get(caller)?.length ?? 0;
    if (this.waiting >= this.#options.maxWaiting || own >= this.#options.maxWaitingOfOne) throw busy();
    return this.#wait(caller, signal);
  }

  #wait(caller: string, signal: AbortSignal): Promise<(() => void) | null> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
      };
      const waiter: Waiter = {
        caller,
        admit: () => {
          settle();
          resolve(() => this.#release());
        },
      };
      const leave = () => {
        settle();
        this.#drop(waiter);
      };
      const cancel = () => {
        leave();
        resolve(null);
      };
      const timer = setTimeout(() => {
        leave();
        reject(busy());
      }, this.#options.maxWaitMs);
      signal.addEventListener('abort', cancel);
      this.#waiting.set(caller, [...(this.#waiting.get(caller) ?? []), waiter]);
    });
  }

  #release(): void {
    const next = this.#waiting.entries().next().value;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [caller, waiters] = next;
    const [first, ...rest] = waiters;
    // To the end of the turns, with what is left.
    this.#waiting.delete(caller);
    if (rest.length > 0) this.#waiting.set(caller, rest);
    first?.admit();
  }

  #drop(waiter: Waiter): void {
    const rest = (this.#waiting.get(waiter.caller) ?? []).filter((other) => other !== waiter);
    if (rest.length > 0) this.#waiting.set(waiter.caller, rest);
    else this.#waiting.delete(waiter.caller);
  }
}

function busy(): SandboxError {
  return new SandboxError('sandbox_busy', 'Too many functions are running; try again in a moment.');
}
