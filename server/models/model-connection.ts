import { APIError, OpenAI } from 'openai';
import { CallGuard, defaultTimeouts, type Timeouts } from './call-guard.ts';
import type { ModelError } from './model-error.ts';
import { defaultRetryPolicy, type RetryPolicy, withRetries } from './retry.ts';
import { type Endpoint, errorText, translateRequestError } from './translate-error.ts';

export interface ModelConnectionOptions {
  /** Up to and including the version, for example `https://api.deepseek.com/v1`. */
  baseUrl: string;
  /** Empty for a service that wants none. */
  apiKey: string;
  model: string;
  timeouts?: Partial<Timeouts> | undefined;
  /** Attempts after the first; 2 unless given. */
  maxRetries?: number | undefined;
  retryPolicy?: Partial<RetryPolicy> | undefined;
}

/** A refused request is a value: what its text names decides whether another form of it is tried. */
export type PostOutcome =
  | { kind: 'answered'; response: Response }
  | { kind: 'refused'; text: string; error: ModelError };

const refusalStatuses: ReadonlySet<number> = new Set([400, 413, 422]);

/** One OpenAI-compatible service and model: address, key, limits and retries, shared by chat and embeddings. */
export class ModelConnection {
  readonly endpoint: Endpoint;
  readonly #client: OpenAI;
  readonly #timeouts: Timeouts;
  readonly #policy: RetryPolicy;

  constructor(options: ModelConnectionOptions) {
    // Pasted keys and addresses often bring a line end along.
    const baseUrl = options.baseUrl.trim();
    const apiKey = options.apiKey.trim();
    const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : 'the configured address';
    this.endpoint = { host, model: options.model, apiKey };
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.#policy = { ...defaultRetryPolicy, ...options.retryPolicy };
    if (options.maxRetries !== undefined) this.#policy.maxRetries = options.maxRetries;
    this.#client = createClient(baseUrl, apiKey, this.#timeouts.totalMs);
  }

  /**
   * Runs one call: `attempt` gets the guard that watches it and is repeated by the retry policy, as long as `mayRetry`
   * agrees. Whatever it left open is closed in the end. Throws `ModelError`, or what `attempt` threw of its own.
   */
  async call<T>(
    signal: AbortSignal,
    attempt: (guard: CallGuard) => Promise<T>,
    mayRetry: () => boolean = () => true,
  ): Promise<T> {
    const guard = new CallGuard(signal, this.#timeouts);
    try {
      guard.check();
      return await withRetries({ policy: this.#policy, guard, mayRetry }, () => attempt(guard));
    } finally {
      guard.dispose();
    }
  }

  /**
   * Sends one request and waits for the response headers; the body is the caller's to read.
   * Throws `ModelError` on every failure but a refusal (400, 413, 422).
   */
  async post(path: string, body: Record<string, unknown>, guard: CallGuard): Promise<PostOutcome> {
    try {
      // Without retries of the package's own: its sleep heeds no signal and its waits have no upper limit.
      const response = await guard.watch('headers', () =>
        this.#client.post(path, { body, signal: guard.signal, maxRetries: 0 }).asResponse(),
      );
      return { kind: 'answered', response };
    } catch (error) {
      const failure = guard.failure ?? translateRequestError(error, this.endpoint);
      if (error instanceof APIError && error.status !== undefined && refusalStatuses.has(error.status)) {
        return { kind: 'refused', text: errorText(error), error: failure };
      }
      throw failure;
    }
  }
}

/** Keeps the whole body of an error: many services put their words beside, not inside, an `error` object. */
class KnowhyClient extends OpenAI {
  protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers) {
    // Typed as an object, but it is whatever JSON the service sent, or undefined.
    const hasErrorObject = typeof body === 'object' && body !== null && 'error' in body;
    const wrapped = body === undefined || hasErrorObject ? body : { error: body };
    return super.makeStatusError(status, wrapped, message, headers);
  }
}

function createClient(baseUrl: string, apiKey: string, timeoutMs: number): OpenAI {
  return new KnowhyClient({
    baseURL: baseUrl,
    // The package insists on a key; without one the header is taken out below.
    apiKey: apiKey || 'none',
    defaultHeaders: apiKey ? {} : { Authorization: null },
    // Read from the environment unless given: accounts that are nobody's choice here.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    // Its debug log holds whole prompts.
    logLevel: 'off',
    maxRetries: 0,
    // Ends at the headers only; the guard's limits come first.
    timeout: timeoutMs,
  });
}
