import { describe, expect, it } from 'vitest';
import { CallGuard } from './call-guard.ts';
import { ModelError } from './model-error.ts';
import { defaultRetryPolicy, readRetryAfter, withRetries } from './retry.ts';

const now = Date.parse('2026-12-01T08:00:00Z');

describe('readRetryAfter', () => {
  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Tue, 01 Dec 2026 08:00:20 GMT' }, 20_000],
    [{ 'retry-after': 'Tue, 01 Dec 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j gives %s', (headers, expected) => {
    // The union of the table's rows is wider than what a Headers takes.
    expect(readRetryAfter(new Headers(headers as Record<string, string>), now)).toBe(expected);
  });
});

describe('withRetries', () => {
  const unavailable = new ModelError({ code: 'unavailable', message: 'down', retryable: true });

  async function timesOfAttempts(random: number): Promise<number[]> {
    const guard = new CallGuard(new AbortController().signal, { headersMs: 1_000, idleMs: 1_000, totalMs: 5_000 });
    const policy = { ...defaultRetryPolicy, maxRetries: 3, baseDelayMs: 40, random: () => random };
    const times: number[] = [];
    const result = withRetries({ policy, guard }, async () => {
      times.push(performance.now());
      throw unavailable;
    });
    await expect(result).rejects.toBe(unavailable);
    guard.dispose();
    return times;
  }

  it('waits twice as long each time, with jitter below the full wait', async () => {
    const times = await timesOfAttempts(0);

    const waits = times.slice(1).map((time, i) => Math.round(time - (times[i] ?? 0)));
    expect(waits).toHaveLength(3);
    expect(waits[0]).toBeGreaterThanOrEqual(19);
    expect(waits[1]).toBeGreaterThanOrEqual(39);
    expect(waits[2]).toBeGreaterThanOrEqual(79);
  });

  it('does not start a wait that outlasts the call', async () => {
    const guard = new CallGuard(new AbortController().signal, { headersMs: 1_000, idleMs: 1_000, totalMs: 300 });
    const error = new ModelError({ code: 'rate_limited', message: 'slow', retryable: true, retryAfterMs: 2_000 });
    const startedAt = performance.now();

    const result = withRetries({ policy: defaultRetryPolicy, guard }, () => Promise.reject(error));

    await expect(result).rejects.toBe(error);
    expect(performance.now() - startedAt).toBeLessThan(280);
    guard.dispose();
  });
});
