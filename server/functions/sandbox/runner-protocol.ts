import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SANDBOX_LIMITS } from '../python-sandbox.ts';
import { sandboxFolder } from './engine-command.ts';

const READY = Buffer.from('KBR1');
const FRAME = Buffer.from('KBF1');
const NONCE_BYTES = 32;
/** What a worker sends around a value, or instead of one: an exception's message is at most 4,000 characters. */
const WORKER_MARGIN_BYTES = 64 * 1024;
/** More than any frame of the runner can be. */
const MAX_STREAM_BYTES = SANDBOX_LIMITS.resultBytes + SANDBOX_LIMITS.logBytes + 2 * WORKER_MARGIN_BYTES;

/** What a container is asked. `data_bytes`: Python's own memory limit, below the container's. */
export interface RunnerJob {
  mode: 'call' | 'check';
  code: string;
  entrypoint: string | null;
  arguments: Record<string, unknown>;
  result_bytes: number;
  data_bytes: number;
}

/** How the supervisor saw the run. `size`: bytes the worker wanted to send. `printed`: bytes, kept or not. */
const frameStatus = z.object({
  status: z.enum(['done', 'died', 'timeout', 'memory', 'result-too-large']),
  exit: z.number().int().nullable(),
  signal: z.number().int().nullable(),
  ms: z.number(),
  size: z.number().int().nullable(),
  printed: z.number().int(),
});
export type FrameStatus = z.infer<typeof frameStatus>;

/** The one message of a container. `worker` is what the process of the author's code sent: never trust it. */
export interface Frame {
  status: FrameStatus;
  worker: Buffer;
  stdout: Buffer;
  stderr: Buffer;
}

/** Bytes that are not of the protocol. */
export class ProtocolError extends Error {
  readonly code = 'sandbox_protocol';

  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

let runner: Buffer | null = null;

/**
 * The runner as the boot line reads it: eight digits of length, then Python. Read once: a server whose files are being
 * updated goes on with the runner that it tested. Throws what reading throws.
 */
export function runnerMessage(): Buffer {
  runner ??= readRunner();
  return runner;
}

function readRunner(): Buffer {
  const parts = ['supervisor.py', 'worker.py', 'values.py'].map((file) =>
    readFileSync(join(sandboxFolder(), 'runner', file), 'utf8'),
  );
  const source = Buffer.from(`${parts.join('\n')}\nsupervise()\n`);
  return Buffer.concat([Buffer.from(String(source.length).padStart(8, '0')), source]);
}

/** The job as the supervisor reads it. The nonce stands in the header, which the worker never sees. */
export function jobMessage(job: RunnerJob, { nonce, timeoutMs }: { nonce: string; timeoutMs: number }): Buffer {
  const header = {
    nonce,
    timeout_ms: timeoutMs,
    log_bytes: SANDBOX_LIMITS.logBytes,
    result_bytes: job.result_bytes + WORKER_MARGIN_BYTES,
  };
  return Buffer.concat([part(header), part(job)]);
}

function part(value: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(value));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Collects what a container writes, up to a bound, and recognises the ready mark and the frame. */
export class FrameReader {
  readonly #nonce: string;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  /** Throws ProtocolError as soon as the bytes cannot become a frame. */
  push(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length > MAX_STREAM_BYTES) throw new ProtocolError('The container sent more than a frame holds.');
    const mark = this.#bytes.subarray(0, READY.length);
    if (!mark.equals(READY.subarray(0, mark.length))) throw new ProtocolError('The container sent no ready mark.');
  }

  isReady(): boolean {
    return this.#bytes.length >= READY.length;
  }

  /** What came so far, for a message about a container that never became ready. */
  text(): string {
    return this.#bytes.toString('latin1');
  }

  /** Null while it is not complete. Throws ProtocolError for a wrong nonce, wrong lengths or bytes behind it. */
  frame(): Frame | null {
    const start = READY.length + FRAME.length + NONCE_BYTES;
    if (this.#bytes.length < start) return null;
    if (!this.#bytes.subarray(READY.length).subarray(0, FRAME.length).equals(FRAME)) {
      throw new ProtocolError('The container sent something else than a frame.');
    }
    if (this.#bytes.toString('latin1', READY.length + FRAME.length, start) !== this.#nonce) {
      throw new ProtocolError('The frame has a wrong nonce.');
    }
    const parts = this.#parts(start);
    if (parts === null) return null;
    const [status, worker, stdout, stderr] = parts;
    const parsed = frameStatus.safeParse(JSON.parse(status.toString('utf8')));
    if (!parsed.success) throw new ProtocolError('The frame has no valid status.');
    return { status: parsed.data, worker, stdout, stderr };
  }

  #parts(start: number): [Buffer, Buffer, Buffer, Buffer] | null {
    const parts: Buffer[] = [];
    let at = start;
    while (parts.length < 4) {
      if (this.#bytes.length < at + 4) return null;
      const length = this.#bytes.readUInt32BE(at);
      if (this.#bytes.length < at + 4 + length) return null;
      parts.push(this.#bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    if (at !== this.#bytes.length) throw new ProtocolError('There are bytes behind the frame.');
    // Four were pushed.
    return parts as [Buffer, Buffer, Buffer, Buffer];
  }
}
