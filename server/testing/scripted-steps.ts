/** How a scripted reply is sent. Everything has a default. */
export interface ReplyOptions {
  reasoning?: string;
  /** Null: the service never says why it stopped. */
  finishReason?: string | null;
  /** Null: no token counts at all. */
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  /** Code points in each delta, 4 unless given. */
  chunkSize?: number;
  /** Before the response headers and before each delta. */
  delayMs?: number;
  /** Cuts the stream into packets of so many bytes, through the middle of characters. */
  packetBytes?: number;
  /** A comment line before each delta, as some services send to keep a connection open. */
  keepAlive?: boolean;
  /** What happens after `afterChunks` deltas instead of the rest. */
  interruption?: { kind: 'hang' | 'cut' | 'end' | 'error'; afterChunks: number; error?: unknown };
}

/** What the scripted server does with one call. */
export type Step =
  | { kind: 'reply'; text: string; options: ReplyOptions }
  | { kind: 'status'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'raw'; contentType: string; body: string }
  | { kind: 'hang' }
  | { kind: 'refuse-field'; field: string; body: string | undefined; otherwise: Step | undefined };

/** An answer in full. */
export function reply(text: string, options: ReplyOptions = {}): Step {
  return { kind: 'reply', text, options };
}

/** A status with an OpenAI-like error body. `retryAfter`: as the header says it; `retryAfterMs`: the non-standard one. */
export function status(
  code: number,
  options: { retryAfter?: string | number; retryAfterMs?: number; body?: string; contentType?: string } = {},
): Step {
  const headers: Record<string, string> = { 'content-type': options.contentType ?? 'application/json' };
  if (options.retryAfter !== undefined) headers['retry-after'] = String(options.retryAfter);
  if (options.retryAfterMs !== undefined) headers['retry-after-ms'] = String(options.retryAfterMs);
  const body = options.body ?? JSON.stringify({ error: { message: `scripted status ${code}`, code: String(code) } });
  return { kind: 'status', status: code, headers, body };
}

/** Takes the request and never answers. */
export function hang(): Step {
  return { kind: 'hang' };
}

/** Sends `afterChunks` deltas and then nothing more, with the connection open. Without streaming: the headers only. */
export function hangAfter(
  afterChunks: number,
  text = 'a text that stops in the middle',
  options: ReplyOptions = {},
): Step {
  return reply(text, { ...options, interruption: { kind: 'hang', afterChunks } });
}

/** Sends `afterChunks` deltas and breaks the connection. */
export function cutStream(
  afterChunks: number,
  text = 'a text that breaks in the middle',
  options: ReplyOptions = {},
): Step {
  return reply(text, { ...options, interruption: { kind: 'cut', afterChunks } });
}

/** An answer that ran into its token limit. */
export function truncated(text: string, options: ReplyOptions = {}): Step {
  return reply(text, { ...options, finishReason: 'length' });
}

/** JSON inside a Markdown code fence, with a sentence before it. */
export function codeFence(json: unknown, options: ReplyOptions = {}): Step {
  return reply(`Here is the result:\n\`\`\`json\n${JSON.stringify(json)}\n\`\`\`\n`, options);
}

/** A think block, then the answer, both in the content. */
export function thinkBlock(think: string, text: string, options: ReplyOptions = {}): Step {
  return reply(`<think>${think}</think>${text}`, options);
}

/** Status 200 and a body that claims to be JSON. */
export function nonJson(): Step {
  return { kind: 'raw', contentType: 'application/json', body: 'this is not JSON' };
}

/** A web page, as a proxy or a wrong address gives it. */
export function htmlError(code = 200): Step {
  const body = '<!DOCTYPE html><html><body><h1>Something went wrong</h1></body></html>';
  return code === 200
    ? { kind: 'raw', contentType: 'text/html', body }
    : status(code, { body, contentType: 'text/html' });
}

/** An `error` object after `afterChunks` deltas; without streaming, in place of the completion. */
export function errorInStream(
  afterChunks = 0,
  error: unknown = { message: 'scripted error', code: 'server_error' },
): Step {
  return reply('a text that an error interrupts', { interruption: { kind: 'error', afterChunks, error } });
}

/** All of the text, then the end of the body without finish reason and `[DONE]`. */
export function withoutFinishReason(text: string, options: ReplyOptions = {}): Step {
  return reply(text, {
    ...options,
    finishReason: null,
    interruption: { kind: 'end', afterChunks: Number.POSITIVE_INFINITY },
  });
}

/**
 * Refuses with 400 a body that has `field`. In a list it takes no turn and holds from its place on; `otherwise` is for
 * scripts that are functions. `body`: the refusal's body, which names the field unless given.
 */
export function refuseField(field: string, options: { body?: string; otherwise?: Step } = {}): Step {
  return { kind: 'refuse-field', field, body: options.body, otherwise: options.otherwise };
}
