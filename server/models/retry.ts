import type { CallGuard } from './call-guard.ts';
import { ModelError } from './model-error.ts';

export interface RetryPolicy {
  /** Attempts after the first. */
  maxRetries: number;
  /** First backoff in ms; doubles with each retry up to 8 s. */
  baseDelayMs: number;
  /** The longest wait a provider may ask for, in ms; beyond it the call fails at once. */
  maxRetryAfterMs: number;
  /** In [0, 1). */
  random: () => number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 2,
  baseDelayMs: 500,
  maxRetryAfterMs: 30_000,
  random: Math.random,
};

const maxBackoffMs = 8_000;

/**
 * Runs `attempt` until it succeeds, fails for good, or the retries are used up. A timeout is not tried again: it has
 * cost its time already. `mayRetry` is asked before each retry (a stream that was passed on must not begin anew).
 * Throws what the last attempt threw; of a wait that is too long, an error that says so.
 */
export async function withRetries<T>(
  { policy, guard, mayRetry = () => true }: { policy: RetryPolicy; guard: CallGuard; mayRetry?: () => boolean },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ModelError) || !error.retryable || error.code === 'timeout') throw error;
      if (retry >= policy.maxRetries || !mayRetry()) throw error;
      const delayMs = delayBeforeRetry(policy, retry, error);
      if (delayMs >= guard.remainingMs) throw error;
      await guard.sleep(delayMs);
    }
  }
}

function delayBeforeRetry(policy: RetryPolicy, retry: number, error: ModelError): number {
  const askedMs = error.retryAfterMs;
  if (askedMs !== undefined) {
    if (askedMs > policy.maxRetryAfterMs) throw waitTooLong(error, askedMs, policy.maxRetryAfterMs);
    return askedMs;
  }
  const backoffMs = Math.min(policy.baseDelayMs * 2 ** retry, maxBackoffMs);
  // Half fixed, half random: clients that failed together do not come back together.
  return backoffMs * (0.5 + policy.random() / 2);
}

function waitTooLong(error: ModelError, askedMs: number, maxMs: number): ModelError {
  return new ModelError({
    code: error.code,
    message: `${error.message} It asks to wait ${Math.ceil(askedMs / 1000)} s, longer than the ${maxMs / 1000} s this server waits.`,
    retryable: true,
    status: error.status,
    retryAfterMs: askedMs,
    cause: error.cause,
  });
}

/**
 * Reads how long a provider asks to wait, in ms: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date
 * (RFC 9110 §10.2.3). `nowMs`: epoch ms. Undefined when it asks nothing that can be read; a date gone by gives 0.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = readNumber(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return milliseconds;
  const value = headers.get('retry-after');
  const seconds = readNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const dateMs = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

function readNumber(value: string | null): number | undefined {
  if (value === null || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}
