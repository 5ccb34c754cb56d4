import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DocumentPreparer, type DocumentPreparerOptions } from './document-preparer.ts';
import type { ParseJob } from './parse-worker.ts';

/** Room for the parsers and a small file, but not for a large one. */
const MEMORY_MB = 192;
const small: ParseJob = textFile('年假十天。');
const large: ParseJob = textFile('# heading\nsome text that is long enough to be counted\n'.repeat(600_000));

const preparers: DocumentPreparer[] = [];
let workers: Worker[] = [];
const noteWorker = (worker: Worker) => workers.push(worker);

beforeEach(() => {
  workers = [];
  process.on('worker', noteWorker);
});
afterEach(async () => {
  process.off('worker', noteWorker);
  for (const preparer of preparers.splice(0)) await preparer.close();
});

function textFile(text: string): ParseJob {
  return { name: 'a.md', bytes: new TextEncoder().encode(text) };
}

function start(options: DocumentPreparerOptions = {}) {
  const preparer = new DocumentPreparer(options);
  preparers.push(preparer);
  return (job: ParseJob, signal = new AbortController().signal) => preparer.prepare(job, signal);
}

it('prepares one file after another in the same thread', async () => {
  const prepare = start();

  const outcomes = [await prepare(small), await prepare(small)];

  expect(outcomes.map((outcome) => outcome.kind)).toEqual(['prepared', 'prepared']);
  expect(workers).toHaveLength(1);
});

it('keeps the thread after a file that cannot be parsed', async () => {
  const prepare = start();

  const bad = await prepare({ name: 'a.pdf', bytes: new TextEncoder().encode('no pdf') });
  const good = await prepare(small);

  expect([bad.kind, good.kind]).toEqual(['failed', 'prepared']);
  expect(workers).toHaveLength(1);
});

it('fails a file that takes too long, alone', async () => {
  const prepare = start({ timeoutMs: 1 });

  const outcome = await prepare(small);

  expect(outcome).toMatchObject({ kind: 'failed', message: 'The file took more than 0.001 s to read.' });
});

it('fails a file that takes too much memory in words a person understands, and reads the next', async () => {
  const prepare = start({ memoryMb: MEMORY_MB });

  const bad = await prepare(large);
  const good = await prepare(small);

  expect(bad).toEqual({
    kind: 'failed',
    code: 'internal_error',
    message: 'The file needs more memory to read than a document may take.',
  });
  expect(good.kind).toBe('prepared');
  expect(workers).toHaveLength(2);
});

it('reads the next file after its thread died between two', async () => {
  const prepare = start({ timeoutMs: 20_000 });
  await prepare(small);

  await workers[0]?.terminate();
  const outcome = await prepare(small);

  expect(outcome.kind).toBe('prepared');
});

it('says so when the thread ends under a file', async () => {
  const prepare = start({ timeoutMs: 20_000 });
  const started = once(process, 'worker');

  const outcome = prepare(small);
  await started;
  await workers[0]?.terminate();

  expect(await outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('could not be read') });
});

it('throws when it is called off, and reads the next file', async () => {
  const prepare = start();
  const calledOff = new AbortController();

  const running = prepare(large, calledOff.signal);
  setTimeout(() => calledOff.abort(), 20);

  await expect(running).rejects.toThrow('aborted');
  await expect(prepare(small, calledOff.signal)).rejects.toThrow('aborted');
  expect((await prepare(small)).kind).toBe('prepared');
});
