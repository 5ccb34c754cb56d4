/**
 * What went wrong with a model, as far as the caller can act on it.
 * - `aborted`: the caller's signal fired. `timeout`: one of our own limits did.
 * - `rate_limited`: too many requests, or the quota is used up (then not retryable).
 * - `unauthorized`: the key was refused. `bad_request`: the provider refused the request, or the settings are wrong.
 * - `unavailable`: not reachable or failing. `bad_response`: an answer that is not of the protocol.
 * - `stream_cut`: the connection broke in the middle of an answer. `context_length`: the input is too long.
 */
export type ModelErrorCode =
  | 'aborted'
  | 'timeout'
  | 'rate_limited'
  | 'unauthorized'
  | 'bad_request'
  | 'unavailable'
  | 'bad_response'
  | 'stream_cut'
  | 'context_length';

export interface ModelErrorDetails {
  code: ModelErrorCode;
  /** For people, in English, naming what to check; never the upstream body or the key. */
  message: string;
  /** True when the same request may succeed later. */
  retryable: boolean;
  /** HTTP status of the provider, where there was one. */
  status?: number | undefined;
  /** How long the provider asked to wait, in ms. */
  retryAfterMs?: number | undefined;
  /** The provider's own words for the log; the adapter takes the key out first. */
  cause?: unknown;
}

/** The one error of this folder: every failure of a chat or embedding model is translated into it, once. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(details: ModelErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.retryable = details.retryable;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
