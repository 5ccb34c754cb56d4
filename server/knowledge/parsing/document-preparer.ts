import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { joinSignals } from '../../observability/joined-signal.ts';
import { startWorker } from '../../observability/start-worker.ts';
import type { ParseJob, ParseOutcome } from './parse-worker.ts';

/** A hostile or broken file may cost this much time and memory, then it fails alone. */
const TIMEOUT_MS = 5 * 60_000;
const MEMORY_MB = 1024;

export interface DocumentPreparerOptions {
  /** For one document. */
  timeoutMs?: number;
  /** Heap of the thread, which holds the parsers as well (some 100 MB). */
  memoryMb?: number;
}

/**
 * Prepares documents one after another in a worker thread that may die without harm: a file that takes too
 * long or too much memory fails alone, and the next one gets a fresh thread. Close it to free the memory.
 */
export class DocumentPreparer {
  readonly #timeoutMs: number;
  readonly #memoryMb: number;
  #worker: Worker | undefined;

  constructor({ timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB }: DocumentPreparerOptions = {}) {
    this.#timeoutMs = timeoutMs;
    this.#memoryMb = memoryMb;
  }

  /** Never throws for what the file holds: that is an outcome. Throws when `signal` fires. */
  async prepare(job: ParseJob, signal: AbortSignal): Promise<ParseOutcome> {
    signal.throwIfAborted();
    const worker = this.#worker ?? this.#start();
    const waiting = new AbortController();
    const { signal: limit, dispose } = joinSignals([signal, waiting.signal], { timeoutMs: this.#timeoutMs });
    try {
      const answer = once(worker, 'message', { signal: limit }) as Promise<[ParseOutcome]>;
      const ended = once(worker, 'exit', { signal: limit }).then(() => null);
      worker.postMessage(job);
      const first = await Promise.race([answer, ended]);
      return first === null ? failed('The file could not be read: the parser ended.') : first[0];
    } catch (error) {
      await this.close();
      signal.throwIfAborted();
      if (limit.aborted) return failed(`The file took more than ${this.#timeoutMs / 1000} s to read.`);
      return failed(describeDeath(error));
    } finally {
      waiting.abort();
      dispose();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker(new URL('./parse-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb },
    });
    worker.unref();
    // What the worker dies of, memory included, is an `error` before its `exit`. `prepare` is told of it by `once`, which
    // rejects; between two files nobody listens, and without this listener it would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }
}

function describeDeath(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return 'The file needs more memory to read than a document may take.';
  }
  return `The file could not be read: ${error instanceof Error ? error.message : String(error)}`;
}

function failed(message: string): ParseOutcome {
  return { kind: 'failed', code: 'internal_error', message };
}
