import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { SandboxError } from '../sandbox-error.ts';
import type { ContainerEngine, Launch } from './container-engine.ts';
import { endClient } from './end-client.ts';
import { engineFailure, isEngineFailure, outputText } from './engine-failure.ts';
import {
  type Frame,
  FrameReader,
  jobMessage,
  ProtocolError,
  type RunnerJob,
  runnerMessage,
} from './runner-protocol.ts';

/** From the call of the CLI to the ready mark, on a machine under load. */
const START_TIMEOUT_MS = 30_000;
/** For the supervisor to end a run by itself after its time, before the engine is asked to. */
const GRACE_MS = 3000;
/** For a container to be gone after its frame, or after its stdin ended. */
const LEAVE_MS = 5000;
const HURRY_MS = 1000;
const MAX_STDERR_BYTES = 8192;

/** How a container ended a job. `failed`: the engine's doing. `exited`: without a frame, although it was ready. */
export type JobEnd =
  | { kind: 'frame'; frame: Frame }
  | { kind: 'timeout' }
  | { kind: 'cancelled' }
  | { kind: 'exited'; exitCode: number | null }
  | { kind: 'failed'; error: SandboxError | ProtocolError };

/**
 * One container with the client attached to it, from its start to its removal. It takes one job, ever (R88).
 * `gone` settles once it is removed, whatever happened.
 */
export class RunnerContainer {
  readonly gone: Promise<void>;
  readonly nonce = randomBytes(16).toString('hex');
  readonly #engine: ContainerEngine;
  readonly #name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #reader: FrameReader;
  #stderr: Buffer = Buffer.alloc(0);
  #end: JobEnd | null = null;
  #isClosed = false;
  #isUsed = false;
  #waiters: (() => void)[] = [];
  #leaving: Promise<void> | null = null;
  #settle: () => void = () => {};

  constructor(engine: ContainerEngine, launch: Omit<Launch, 'name'>) {
    // Whatever can fail does so before there is a client to end.
    const runner = runnerMessage();
    this.#engine = engine;
    this.#name = `knowhy-py-${randomBytes(8).toString('hex')}`;
    this.#reader = new FrameReader(this.nonce);
    this.#child = engine.launch({ ...launch, name: this.#name });
    this.gone = this.#listen();
    this.#child.stdin.write(runner);
  }

  /** Waits until the container takes a job; what keeps it from that is thrown as SandboxError and ends it. */
  async ready(): Promise<void> {
    const end = await this.#until(() => this.#reader.isReady(), START_TIMEOUT_MS, null);
    if (end === null) return;
    void this.remove();
    throw end.kind === 'failed' ? end.error : this.#startFailure(end);
  }

  isAlive(): boolean {
    return !this.#isClosed && this.#end === null && !this.#isUsed;
  }

  /** What the engine said on its own account, such as warnings about limits it dropped. */
  engineWords(): string {
    return outputText(this.#stderr);
  }

  /** Runs the one job. Never throws; a container that is not left by itself afterwards is removed. */
  async run(job: RunnerJob, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<JobEnd> {
    if (this.#isUsed) throw new Error('A container takes one job.');
    this.#isUsed = true;
    this.#child.stdin.write(jobMessage(job, { nonce: this.nonce, timeoutMs }));
    const end = await this.#finish(timeoutMs, signal);
    void (end.kind === 'frame' ? this.#leave(LEAVE_MS) : this.remove());
    return end;
  }

  /** Ends the container: its stdin first, which the supervisor watches, then by the engine. Never throws. */
  remove(): Promise<void> {
    this.#child.stdin.end();
    return this.#leave(HURRY_MS);
  }

  async #finish(timeoutMs: number, signal: AbortSignal): Promise<JobEnd> {
    const started = await this.#until(() => this.#reader.isReady(), START_TIMEOUT_MS, signal);
    if (started) {
      return started.kind === 'timeout' || started.kind === 'exited'
        ? { kind: 'failed', error: this.#startFailure(started) }
        : started;
    }
    let frame: Frame | null = null;
    const isDone = () => {
      frame = this.#reader.frame();
      return frame !== null;
    };
    const end = await this.#until(isDone, timeoutMs + GRACE_MS, signal);
    return end ?? (frame ? { kind: 'frame', frame } : { kind: 'timeout' });
  }

  /** Null once `isDone`, else why not. */
  async #until(isDone: () => boolean, timeoutMs: number, signal: AbortSignal | null): Promise<JobEnd | null> {
    let isLate = false;
    const wake = () => this.#wake();
    const timer = setTimeout(() => {
      isLate = true;
      wake();
    }, timeoutMs);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        if (signal?.aborted) return { kind: 'cancelled' };
        // A frame that is complete counts even where the client has ended by now.
        if (this.#end?.kind !== 'failed' && this.#attempt(isDone)) return null;
        if (this.#end) return this.#end;
        if (isLate) return { kind: 'timeout' };
        await new Promise<void>((resolve) => {
          this.#waiters.push(resolve);
        });
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
    }
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #attempt(isDone: () => boolean): boolean {
    try {
      return isDone();
    } catch (error) {
      this.#end = { kind: 'failed', error: error instanceof ProtocolError ? error : new ProtocolError(String(error)) };
      return false;
    }
  }

  #listen(): Promise<void> {
    const child = this.#child;
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => {
      const isSound = this.#attempt(() => {
        this.#reader.push(chunk);
        return true;
      });
      // What follows is read and dropped: a stream that is left full never ends, nor does its process.
      if (!isSound) child.stdout.removeAllListeners('data').resume();
      this.#wake();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(0, MAX_STDERR_BYTES);
    });
    child.on('error', (startError) =>
      this.#close({ kind: 'failed', error: engineFailure({ engine: this.#engine.name, text: '', startError }) }),
    );
    child.on('close', (code, signal) => this.#close(this.#endOf(code, signal)));
    return new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  #close(end: JobEnd): void {
    this.#end ??= end;
    this.#isClosed = true;
    this.#wake();
    this.#settle();
  }

  /** Exit codes alone do not tell: code 125 is the CLI's, but a container may end with any. */
  #endOf(code: number | null, signal: NodeJS.Signals | null): JobEnd {
    const words = this.engineWords();
    if (signal === null && code !== 125 && !isEngineFailure(words)) return { kind: 'exited', exitCode: code };
    const error = engineFailure({ engine: this.#engine.name, text: words || `the client ended (${signal ?? code})` });
    if (!this.#reader.isReady()) return { kind: 'failed', error };
    const message = `The container engine broke off in the middle of a run; try again. ${error.message}`;
    return { kind: 'failed', error: new SandboxError('sandbox_failed', message) };
  }

  #startFailure(end: JobEnd): SandboxError {
    // wsl.exe says what is wrong on its standard output.
    const text = this.engineWords() || outputText(Buffer.from(this.#reader.text(), 'latin1'));
    const isLate = end.kind === 'timeout';
    const why = isLate
      ? `no container within ${START_TIMEOUT_MS} ms`
      : 'the client ended before the container was ready';
    return engineFailure({ engine: this.#engine.name, text: text || why });
  }

  #leave(patienceMs: number): Promise<void> {
    this.#leaving ??= this.#see(patienceMs);
    return this.#leaving;
  }

  async #see(patienceMs: number): Promise<void> {
    if (await this.#isGoneWithin(patienceMs)) return this.#sweepUp();
    await this.#engine.remove([this.#name]).catch(() => {});
    if (await this.#isGoneWithin(LEAVE_MS)) return;
    endClient(this.#child);
    if (!(await this.#isGoneWithin(LEAVE_MS))) this.#close({ kind: 'timeout' });
    await this.#engine.remove([this.#name]).catch(() => {});
  }

  /** A client that was killed leaves its container to us; one that ended in order has seen it removed. */
  async #sweepUp(): Promise<void> {
    if (this.#end?.kind === 'failed') await this.#engine.remove([this.#name]).catch(() => {});
  }

  async #isGoneWithin(timeoutMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.gone, late]);
    clearTimeout(timer);
    return this.#isClosed;
  }
}
