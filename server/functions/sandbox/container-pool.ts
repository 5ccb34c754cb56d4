import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_CONTAINER_AGE_MS } from './container-owner.ts';
import type { RunnerContainer } from './runner-container.ts';

/** After the last start of a run, before a container is started ahead: creating one takes a whole core for half a second. */
const QUIET_MS = 500;

export interface ContainerPoolOptions {
  size: number;
  /** Starts a container that waits for its job. */
  create(): RunnerContainer;
  /** True while runs go on or wait. */
  isBusy(): boolean;
  /** Starting one ahead failed; the pool rests until `fill` is called again. */
  onFailure(error: unknown): void;
}

interface Idle {
  container: RunnerContainer;
  sinceMs: number;
}

/** Containers started ahead of need. Each is handed out once, or replaced when it died or got old. */
export class ContainerPool {
  readonly #options: ContainerPoolOptions;
  readonly #closing = new AbortController();
  #idle: Idle[] = [];
  #starting: RunnerContainer | null = null;
  #filling: Promise<void> | null = null;
  readonly #renewal: NodeJS.Timeout;
  #lastTakeMs = 0;

  constructor(options: ContainerPoolOptions) {
    this.#options = options;
    this.#renewal = setInterval(() => this.#renew(), MAX_CONTAINER_AGE_MS / 12);
    this.#renewal.unref();
  }

  get idle(): number {
    return this.#idle.filter(({ container }) => container.isAlive()).length;
  }

  /** The one that waits longest, or else the one that is starting; undefined where there is neither. */
  take(): RunnerContainer | undefined {
    this.#lastTakeMs = Date.now();
    this.#dropDead();
    const container = this.#idle.shift()?.container ?? this.#starting ?? undefined;
    if (container === this.#starting) this.#starting = null;
    return container;
  }

  /** Starts what is missing, one at a time, in the background. */
  fill(): void {
    if (this.#options.size === 0 || this.#closing.signal.aborted) return;
    this.#filling ??= this.#fillUp()
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => {
        this.#filling = null;
      });
  }

  /** Removes every container; waits until they are gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#renewal);
    await this.#filling;
    await Promise.all(this.#idle.splice(0).map(({ container }) => container.remove()));
  }

  async #fillUp(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      this.#dropDead();
      if (this.#idle.length >= this.#options.size) return;
      const quietMs = this.#lastTakeMs + QUIET_MS - Date.now();
      if (this.#options.isBusy() && quietMs > 0) {
        await sleep(quietMs, undefined, { signal, ref: false }).catch(() => {});
        if (signal.aborted) return;
        continue;
      }
      if (signal.aborted) return;
      await this.#add(this.#options.create());
    }
  }

  async #add(container: RunnerContainer): Promise<void> {
    const giveUp = () => void container.remove();
    this.#closing.signal.addEventListener('abort', giveUp);
    this.#starting = container;
    let isTaken = false;
    try {
      await container.ready();
    } catch (error) {
      // Who took it meanwhile learns it, or ended it.
      if (!this.#closing.signal.aborted && this.#starting === container) throw error;
    } finally {
      this.#closing.signal.removeEventListener('abort', giveUp);
      isTaken = this.#starting !== container;
      this.#starting = null;
    }
    if (this.#closing.signal.aborted) await container.remove();
    else if (!isTaken) this.#idle.push({ container, sinceMs: Date.now() });
  }

  /** Also where nobody calls a function for hours: another server takes older containers for left behind. */
  #renew(): void {
    if (this.#idle.length === 0) return;
    this.#dropDead();
    this.fill();
  }

  #dropDead(): void {
    const isGood = ({ container, sinceMs }: Idle) =>
      container.isAlive() && Date.now() - sinceMs < MAX_CONTAINER_AGE_MS / 2;
    for (const { container } of this.#idle.filter((entry) => !isGood(entry))) void container.remove();
    this.#idle = this.#idle.filter(isGood);
  }
}
