import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../observability/start-worker.ts';
import type { ParseJob, ParseOutcome } from './parse-worker.ts';

/** A hostile or broken file may cost this much time and memory, then it fails alone. */
const TIMEOUT_MS = 5 * 60_000;
const MEMORY_MB = 1024;

/**
 * Prepares documents one after another in a worker thread that may die without harm: a file that takes too
 * long or too much memory fails alone, and the next one gets a fresh thread. Close it to free the memory.
 */
export class DocumentPreparer {
  readonly #timeoutMs: number;
  #worker: Worker | undefined;

  constructor(timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** Never throws for what the file holds: that is an outcome. Throws when `signal` fires. */
  async prepare(job: ParseJob, signal: AbortSignal): Promise<ParseOutcome> {
    signal.throwIfAborted();
    const worker = this.#worker ?? this.#start();
    const waiting = new AbortController();
    const limit = AbortSignal.any([signal, waiting.signal, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      const answer = once(worker, 'message', { signal: limit }) as Promise<[ParseOutcome]>;
      const died = once(worker, 'exit', { signal: limit }).then(() => null);
      worker.postMessage(job);
      const first = await Promise.race([answer, died]);
      return first === null ? this.#died() : first[0];
    } catch (error) {
      await this.close();
      signal.throwIfAborted();
      if (limit.aborted) return failed(`The file took more than ${this.#timeoutMs / 1000} s to read.`);
      return failed(`The file could not be read: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      waiting.abort();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker(new URL('./parse-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    worker.unref();
    // Out of memory arrives as an error event; `exit` follows and is what `prepare` waits for.
    worker.on('error', () => {});
    this.#worker = worker;
    return worker;
  }

  #died(): ParseOutcome {
    this.#worker = undefined;
    return failed('The file needs more memory to read than a document may take.');
  }
}

function failed(message: string): ParseOutcome {
  return { kind: 'failed', code: 'internal_error', message };
}
