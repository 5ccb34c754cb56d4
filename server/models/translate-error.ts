import { APIConnectionError, APIError } from 'openai';
import { saysContextLength, saysQuotaUsedUp, saysRateLimit } from './foreign-errors.ts';
import { ModelError } from './model-error.ts';
import { readRetryAfter } from './retry.ts';

/** Where a request went, for the messages; the key is known here only to be taken out of them. */
export interface Endpoint {
  host: string;
  model: string;
  apiKey: string;
}

/** Translates whatever was thrown before the response headers were accepted. Never throws. */
export function translateRequestError(error: unknown, endpoint: Endpoint): ModelError {
  if (error instanceof ModelError) return error;
  const cause = scrub(error, endpoint.apiKey);
  if (error instanceof APIConnectionError) {
    return new ModelError({
      code: 'unavailable',
      message: `The model service at ${endpoint.host} cannot be reached (${connectionReason(error)}). Check its address, that it is running, and the network or proxy between.`,
      retryable: true,
      cause,
    });
  }
  if (error instanceof APIError && error.status !== undefined) {
    return translateStatus({
      status: error.status,
      text: errorText(error),
      headers: error.headers ?? new Headers(),
      endpoint,
      cause,
    });
  }
  return new ModelError({
    code: 'bad_request',
    message: `The request to the model service at ${endpoint.host} could not be made. Check the address and the API key of the model "${endpoint.model}".`,
    retryable: false,
    cause,
  });
}

/** Translates a body that broke off. Never throws. */
export function translateBodyError(error: unknown, endpoint: Endpoint): ModelError {
  if (error instanceof ModelError) return error;
  return new ModelError({
    code: 'stream_cut',
    message: `The connection to the model service at ${endpoint.host} broke in the middle of an answer. Check the service and any proxy before it.`,
    retryable: true,
    cause: scrub(error, endpoint.apiKey),
  });
}

/** Translates an `error` object that came with status 200, in a body or in a stream. Never throws. */
export function translateErrorObject(error: unknown, endpoint: Endpoint): ModelError {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  const cause = scrub(new Error(text), endpoint.apiKey);
  if (saysContextLength(text)) return contextLength(endpoint, undefined, cause);
  if (saysQuotaUsedUp(text)) return quotaUsedUp(endpoint, undefined, cause);
  if (saysRateLimit(text)) return rateLimited(endpoint, undefined, undefined, cause);
  return new ModelError({
    code: 'unavailable',
    message: `The model service at ${endpoint.host} reported an error while answering. Look at its own log, or try again.`,
    retryable: true,
    cause,
  });
}

/** An answer that is not of the OpenAI protocol. `found` completes "answered with …". */
export function badResponse(endpoint: Endpoint, found: string, cause?: unknown): ModelError {
  return new ModelError({
    code: 'bad_response',
    message: `The model service at ${endpoint.host} answered with ${found}. Check that its address is that of an OpenAI-compatible API (it often ends in /v1).`,
    retryable: false,
    cause: cause === undefined ? undefined : scrub(cause, endpoint.apiKey),
  });
}

interface StatusFailure {
  status: number;
  text: string;
  headers: Headers;
  endpoint: Endpoint;
  cause: unknown;
}

function translateStatus({ status, text, headers, endpoint, cause }: StatusFailure): ModelError {
  const { host, model } = endpoint;
  const retryAfterMs = readRetryAfter(headers, Date.now());
  const refused = (message: string): ModelError =>
    new ModelError({ code: 'bad_request', message, retryable: false, status, cause });

  if (status === 402 || (status === 429 && saysQuotaUsedUp(text))) return quotaUsedUp(endpoint, status, cause);
  if (status === 429) return rateLimited(endpoint, status, retryAfterMs, cause);
  if (status === 401 || status === 403) {
    const message = `The model service at ${host} refused the API key (HTTP ${status}). Check the key and whether it may use the model "${model}".`;
    return new ModelError({ code: 'unauthorized', message, retryable: false, status, cause });
  }
  if (status >= 500 || status === 408) {
    const message = `The model service at ${host} is failing (HTTP ${status}). Check the service, or try again later.`;
    // 501 and 505 say "never", not "not now".
    const retryable = status !== 501 && status !== 505;
    return new ModelError({ code: 'unavailable', message, retryable, status, retryAfterMs, cause });
  }
  // A proxy answers 413 with a web page; the input is too long all the same.
  if (status === 413) return contextLength(endpoint, status, cause);
  if (/^\s*</.test(text)) return badResponse(endpoint, `a web page (HTTP ${status})`, cause);
  if (saysContextLength(text)) return contextLength(endpoint, status, cause);
  if (status === 404) {
    return refused(
      `The model service at ${host} knows no such address or model (HTTP 404). Check the address and the model name "${model}".`,
    );
  }
  return refused(
    `The model service at ${host} refused the request (HTTP ${status}). Check the name of the model "${model}" and its parameters.`,
  );
}

function contextLength({ host, model }: Endpoint, status: number | undefined, cause: unknown): ModelError {
  const message = `The text is too long for the model "${model}" at ${host}. Use a model with a longer context, or shorter texts and a smaller evidence budget.`;
  return new ModelError({ code: 'context_length', message, retryable: false, status, cause });
}

function quotaUsedUp({ host }: Endpoint, status: number | undefined, cause: unknown): ModelError {
  const message = `The quota or balance of the account at ${host} is used up. Check its billing page.`;
  return new ModelError({ code: 'rate_limited', message, retryable: false, status, cause });
}

function rateLimited(
  { host }: Endpoint,
  status: number | undefined,
  retryAfterMs: number | undefined,
  cause: unknown,
): ModelError {
  const message = `The model service at ${host} limits the rate of requests. Wait a little, or raise the limit of the account.`;
  return new ModelError({ code: 'rate_limited', message, retryable: true, status, retryAfterMs, cause });
}

/** The provider's words: its `error` object with code and type, else the text of the body. */
export function errorText(error: APIError): string {
  return error.error === undefined ? error.message.replace(/^\d{3} /, '') : JSON.stringify(error.error);
}

/** Names the fault of a connection by its system code, which holds nothing secret. */
function connectionReason(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return 'connection failed';
}

const maxCauseLength = 500;

/**
 * A copy of a foreign error that is safe to log: some providers repeat the whole key in "invalid key", and an
 * unsendable key stands in the error of the HTTP client. Headers and bodies hang on the original, so it is not kept.
 */
function scrub(error: unknown, apiKey: string): Error {
  const original = error instanceof Error ? error : new Error(String(error));
  const copy = new Error(withoutKey(original.message, apiKey).slice(0, maxCauseLength));
  copy.name = original.name;
  if (original.cause instanceof Error) copy.cause = scrub(original.cause, apiKey);
  return copy;
}

function withoutKey(text: string, apiKey: string): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, '[key]');
}
