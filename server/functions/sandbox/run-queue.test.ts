import { describe, expect, it } from 'vitest';
import { RunQueue } from './run-queue.ts';

const never = new AbortController().signal;
const options = { concurrency: 1, maxWaiting: 4, maxWaitingOfOne: 3, maxWaitMs: 10_000 };

/** Enters callers one after the other and records the order in which they are admitted. */
async function admissions(queue: RunQueue, callers: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const hold = await queue.acquire('holder', never);
  const runs = callers.map(async (caller) => {
    const release = await queue.acquire(caller, never);
    order.push(caller);
    release?.();
  });
  hold?.();
  await Promise.all(runs);
  return order;
}

describe('RunQueue', () => {
  it('R99 admits waiting callers in turns, each in its own order', async () => {
    const queue = new RunQueue({ ...options, maxWaiting: 9, maxWaitingOfOne: 9 });

    expect(await admissions(queue, ['a', 'a', 'a', 'b', 'c', 'b'])).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('R99 is busy for a caller with too many runs, and for all when the queue is full', async () => {
    const queue = new RunQueue(options);
    const hold = await queue.acquire('a', never);
    const waiting = [1, 2, 3].map(() => queue.acquire('a', never));

    await expect(queue.acquire('a', never)).rejects.toMatchObject({ code: 'sandbox_busy', retryable: true });
    waiting.push(queue.acquire('b', never));
    await expect(queue.acquire('c', never)).rejects.toMatchObject({ code: 'sandbox_busy' });

    hold?.();
    await Promise.all(waiting.map(async (place) => (await place)?.()));
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('gives up a place in the queue when its signal fires or it waits too long', async () => {
    const queue = new RunQueue({ ...options, maxWaitMs: 20 });
    const hold = await queue.acquire('a', never);
    const controller = new AbortController();
    const cancelled = queue.acquire('a', controller.signal);
    controller.abort();

    expect(await cancelled).toBeNull();
    await expect(queue.acquire('b', never)).rejects.toMatchObject({ code: 'sandbox_busy' });
    expect(queue.waiting).toBe(0);
    hold?.();
    expect(await queue.acquire('c', AbortSignal.abort())).toBeNull();
    expect(queue.running).toBe(0);
  });
});
