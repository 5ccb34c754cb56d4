import type { Logger } from 'pino';
import type { PythonConfig } from '../../config.ts';
import { joinSignals, within } from '../../observability/joined-signal.ts';
import {
  type PythonRun,
  type PythonSandbox,
  type RunOutcome,
  type RunOutput,
  SANDBOX_LIMITS,
  type SandboxState,
  type SyntaxOutcome,
} from '../python-sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { ContainerEngine } from './container-engine.ts';
import { createOwner, orphans } from './container-owner.ts';
import { ContainerPool } from './container-pool.ts';
import { type AskedRun, readOutcome, readOutput, readSyntax } from './read-outcome.ts';
import { RunQueue } from './run-queue.ts';
import { type JobEnd, RunnerContainer } from './runner-container.ts';
import { callJob, checkJob } from './runner-job.ts';
import type { RunnerJob } from './runner-protocol.ts';
import { type TestedEngine, testEngine } from './self-test.ts';

/** Runs that wait for each place, of all callers and of one, and for how long. */
const WAITING_PER_PLACE = 8;
const WAITING_OF_ONE_PER_PLACE = 4;
const MAX_WAIT_MS = 30_000;
/** A failed check is not repeated at once: with the engine down every run would start programs only to fail. */
const RETEST_AFTER_MS = 3000;
const CHECK_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 5000;

const NO_OUTPUT: RunOutput = { stdout: '', stderr: '', outputTruncated: false, durationMs: 0 };

/** The Python sandbox on a container engine: one container a run, from a pool where one waits, else started then. */
export class ContainerSandbox implements PythonSandbox {
  readonly #engine: ContainerEngine;
  readonly #config: PythonConfig;
  readonly #log: Logger;
  readonly #owner = createOwner();
  readonly #queue: RunQueue;
  readonly #pool: ContainerPool;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #test: Promise<TestedEngine> | null = null;
  #tested: TestedEngine | null = null;
  #wasReady = false;

  constructor({ engine, config, log }: { engine: ContainerEngine; config: PythonConfig; log: Logger }) {
    this.#engine = engine;
    this.#config = config;
    this.#log = log;
    const { concurrency } = config;
    this.#queue = new RunQueue({
      concurrency,
      maxWaiting: concurrency * WAITING_PER_PLACE,
      maxWaitingOfOne: concurrency * WAITING_OF_ONE_PER_PLACE,
      maxWaitMs: MAX_WAIT_MS,
    });
    this.#pool = new ContainerPool({
      size: config.prewarm,
      create: () => this.#createContainer({ ahead: true }),
      isBusy: () => this.#queue.running > 0,
      onFailure: (error) => {
        if (this.#tested) this.#distrust(error);
      },
    });
  }

  start(): void {
    this.#ready().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'Python functions cannot run');
    });
  }

  async run(request: PythonRun): Promise<RunOutcome> {
    const job = callJob(request, this.#config);
    if ('kind' in job) return { ...job, ...NO_OUTPUT };
    const asked = this.#asked(request.code, request.entrypoint, request.timeoutMs ?? this.#config.timeoutMs);
    const end = await this.#runJob(job, asked, { caller: request.caller ?? '', signal: request.signal });
    if (end.kind === 'frame') return { ...readOutcome(end.frame, asked), ...readOutput(end.frame) };
    return { ...this.#endWithoutFrame(end, asked), ...NO_OUTPUT };
  }

  async checkSyntax(code: string, { caller, signal }: { caller: string; signal: AbortSignal }): Promise<SyntaxOutcome> {
    const job = checkJob(code, this.#config);
    if ('kind' in job) return job;
    const asked = this.#asked(code, null, CHECK_TIMEOUT_MS);
    const end = await this.#runJob(job, asked, { caller, signal });
    return end.kind === 'frame' ? readSyntax(end.frame, asked) : this.#endWithoutFrame(end, asked);
  }

  async describe(): Promise<SandboxState> {
    try {
      const { engineVersion, pythonVersion, notes } = await this.#ready();
      const { running, waiting } = this.#queue;
      const { image } = this.#config;
      const state = { engineVersion, image, pythonVersion, idle: this.#pool.idle, running, waiting, notes };
      return { kind: 'ready', engine: this.#engine.name, ...state };
    } catch (error) {
      const { code, message } = asSandboxError(error);
      return { kind: 'unavailable', code, message };
    }
  }

  async close(): Promise<void> {
    const isFirst = !this.#closing.signal.aborted;
    this.#closing.abort();
    // An engine that hangs must not keep the server from stopping; its containers end with our end of their stdin.
    await within(CLOSE_TIMEOUT_MS, 'the check of the engine', this.#test ?? Promise.resolve(null)).catch(() => {});
    await this.#pool.close();
    await Promise.all([...this.#running]);
    if (!isFirst || !this.#wasReady) return;
    // Normally none: what a lost client or a daemon in trouble left behind.
    const sweeping = this.#sweep({ withOwn: true });
    await within(CLOSE_TIMEOUT_MS, 'removing containers', sweeping).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'containers may be left on the engine');
    });
  }

  #asked(code: string, entrypoint: string | null, timeoutMs: number): AskedRun {
    const { minTimeoutMs, maxTimeoutMs } = SANDBOX_LIMITS;
    return {
      code,
      entrypoint,
      timeoutMs: Math.min(maxTimeoutMs, Math.max(minTimeoutMs, timeoutMs)),
      memoryBytes: this.#config.memoryMiB * 1024 * 1024,
    };
  }

  async #runJob(
    job: RunnerJob,
    asked: AskedRun,
    { caller, signal }: { caller: string; signal: AbortSignal },
  ): Promise<JobEnd> {
    if (this.#closing.signal.aborted) throw closed();
    const stop = joinSignals([signal, this.#closing.signal]);
    try {
      const container = await this.#admit(caller, stop.signal);
      if (container === null) return { kind: 'cancelled' };
      const end = await container.run(job, { timeoutMs: asked.timeoutMs, signal: stop.signal });
      if (end.kind === 'failed') this.#distrust(end.error);
      return end;
    } finally {
      stop.dispose();
    }
  }

  /** A container in its turn, which gives its place back once it is gone; null where the signal fires first. */
  async #admit(caller: string, signal: AbortSignal): Promise<RunnerContainer | null> {
    if (!(await isBefore(this.#ready(), signal))) return null;
    const release = await this.#queue.acquire(caller, signal);
    if (release === null) return null;
    let container: RunnerContainer | null = null;
    try {
      // The engine may have failed while this run waited, and again while it was tested.
      while (this.#tested === null) if (!(await isBefore(this.#ready(), signal))) return null;
      container = this.#pool.take() ?? this.#createContainer({ ahead: false });
    } finally {
      if (container === null) release();
    }
    // Not when its answer is there: the engine has it until then.
    const settled = container.gone.then(() => {
      release();
      this.#running.delete(settled);
      if (this.#tested) this.#pool.fill();
    });
    this.#running.add(settled);
    return container;
  }

  #endWithoutFrame(end: Exclude<JobEnd, { kind: 'frame' }>, asked: AskedRun) {
    switch (end.kind) {
      case 'timeout':
        return { kind: 'timeout', timeoutMs: asked.timeoutMs } as const;
      case 'cancelled':
        return { kind: 'cancelled' } as const;
      case 'exited':
        return { kind: 'crashed', exitCode: end.exitCode, signal: null } as const;
      case 'failed':
        throw asSandboxError(end.error);
    }
  }

  #createContainer({ ahead }: { ahead: boolean }): RunnerContainer {
    if (this.#tested === null)
      throw new SandboxError('sandbox_unavailable', 'The container engine is not checked yet.');
    return new RunnerContainer(this.#engine, { owner: this.#owner, image: this.#tested.imageId, ahead });
  }

  /** The engine as it passed its test; tests it where it has not, or where it failed a while ago. */
  #ready(): Promise<TestedEngine> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    this.#test ??= this.#prepare();
    return this.#test;
  }

  async #prepare(): Promise<TestedEngine> {
    try {
      await this.#sweep({ withOwn: false });
      this.#tested = await testEngine(this.#engine, this.#config, this.#owner);
      this.#wasReady = true;
      this.#pool.fill();
      return this.#tested;
    } catch (error) {
      setTimeout(() => {
        if (this.#tested === null) this.#test = null;
      }, RETEST_AFTER_MS).unref();
      throw asSandboxError(error);
    }
  }

  /** The engine changed under us: nothing runs before it passes its test again. */
  #distrust(error: unknown): void {
    this.#log.warn({ err: error }, 'the container engine failed');
    this.#tested = null;
    this.#test = null;
  }

  /** Removes containers of servers that were killed, and on closing what is left of our own. */
  async #sweep({ withOwn }: { withOwn: boolean }): Promise<void> {
    const containers = await this.#engine.list();
    const own = containers.filter(({ owner }) => owner === this.#owner).map(({ id }) => id);
    const left = [...(withOwn ? own : []), ...orphans(containers.filter(({ owner }) => owner !== this.#owner))];
    if (left.length > 0) this.#log.warn({ containers: left.length }, 'removing containers that were left behind');
    await this.#engine.remove(left);
  }
}

/** False where the signal fires before `work` is done; throws what `work` throws before that. */
async function isBefore(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  let stop: () => void = () => {};
  const aborted = new Promise<false>((resolve) => {
    stop = () => resolve(false);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([aborted, work.then(() => true)]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function closed(): SandboxError {
  return new SandboxError('sandbox_closed', 'The server is stopping; functions run again once it is back.');
}

function asSandboxError(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  return new SandboxError('sandbox_failed', 'The container engine broke off; try again.', error);
}
