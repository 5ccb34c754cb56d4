import { z } from 'zod';
import type { FinishReason, ModelRequest } from './chat-model.ts';
import type { OptionalField } from './field-refusals.ts';
import { type ThinkingStyle, thinkingFields } from './thinking-style.ts';
import { badResponse, type Endpoint, translateErrorObject } from './translate-error.ts';

const text = z.string().nullish();

/** What a message and a delta have in common. OpenRouter and newer vLLM call the reasoning `reasoning`. */
const message = z.object({ content: text, reasoning_content: text, reasoning: text });

const usage = z.object({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() });

/** A whole completion or one chunk of a stream. Only what is used is checked; services add fields of their own. */
const completion = z.object({
  choices: z.array(z.object({ message: message.nullish(), delta: message.nullish(), finish_reason: text })).nullish(),
  usage: usage.nullish(),
});

export type WireCompletion = z.infer<typeof completion>;

/** Whether a whole completion is expected, which must hold a choice, or a chunk, which need not. */
export type CompletionForm = 'whole' | 'chunk';

/**
 * Parses a completion or a chunk. Throws `ModelError`: `bad_response` for what is none, and the translated error for
 * an `error` object that came in its place.
 */
export function parseCompletion(json: string, form: CompletionForm, endpoint: Endpoint): WireCompletion {
  const value = parseJson(json);
  if (typeof value !== 'object' || value === null) {
    throw badResponse(endpoint, /^\s*</.test(json) ? 'a web page' : 'something other than JSON');
  }
  if ('error' in value && value.error) throw translateErrorObject(value.error, endpoint);
  const parsed = completion.safeParse(value);
  const isComplete = form === 'chunk' || Boolean(parsed.data?.choices?.[0]?.message);
  if (!parsed.success || !isComplete) throw badResponse(endpoint, 'JSON that is no chat completion', parsed.error);
  return parsed.data;
}

/** Undefined stands for "not JSON", which JSON itself cannot say. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos_token: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
};

/**
 * Translates a finish reason; undefined where none was given (some services send '' in every chunk). A reason unknown
 * here is `unfinished`: the likes of `insufficient_system_resource` and `network_error` must not pass for an end.
 */
export function readFinishReason(reason: string | null | undefined): FinishReason | undefined {
  return reason ? (finishReasons[reason] ?? 'unfinished') : undefined;
}

export interface BodyOptions {
  model: string;
  thinkingStyle: ThinkingStyle;
  stream: boolean;
}

/** The optional fields of the request's body, for `FieldRefusals`. */
export function optionalFields(request: ModelRequest, options: BodyOptions): OptionalField[] {
  const body = chatBody(request, options, new Set());
  const all: OptionalField[] = ['thinking', 'enable_thinking', 'stream_options', 'response_format', 'max_tokens'];
  return all.filter((field) => field in body);
}

/** The body of a chat completion without the fields in `leftOut`; `max_tokens` left out goes under its newer name. */
export function chatBody(
  request: ModelRequest,
  { model, thinkingStyle, stream }: BodyOptions,
  leftOut: ReadonlySet<OptionalField>,
): Record<string, unknown> {
  const body: Record<string, unknown> = {
    model,
    messages: request.messages,
    max_tokens: request.maxTokens,
    stream,
    ...thinkingFields(thinkingStyle, request.thinking),
  };
  if (stream) body['stream_options'] = { include_usage: true };
  if (request.responseFormat === 'json_object') body['response_format'] = { type: 'json_object' };
  for (const field of leftOut) delete body[field];
  if (leftOut.has('max_tokens')) body['max_completion_tokens'] = request.maxTokens;
  return body;
}
