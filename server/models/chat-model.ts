/** One message of a chat completion, as the OpenAI protocol knows it. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** A finished question and answer of the conversation, oldest first wherever a list of them appears. */
export interface Round {
  question: string;
  answer: string;
}

/** One paragraph of evidence as a model sees it. `n` is the number an answer cites as `[n]`, from 1. */
export interface EvidencePassage {
  n: number;
  document: string;
  title: string;
  content: string;
}

/**
 * What a request is for, in data. A remote model reads the rendered `messages` and never sees this;
 * the offline model works from it, so that nothing has to be parsed back out of a prompt.
 */
export type ModelTask =
  | { kind: 'rewrite'; question: string; summary: string; rounds: readonly Round[] }
  | { kind: 'assess'; question: string; passages: readonly EvidencePassage[]; searchedQueries: readonly string[] }
  | {
      kind: 'answer';
      /** Standing alone. */
      question: string;
      /** As the user put it. */
      asked: string;
      passages: readonly EvidencePassage[];
      gap: string;
      sufficient: boolean;
    }
  | { kind: 'summarise'; summary: string; rounds: readonly Round[]; maxTokens: number };

/** `default` sends no thinking field at all. */
export type Thinking = 'enabled' | 'disabled' | 'default';

export interface ModelRequest {
  task: ModelTask;
  messages: readonly ChatMessage[];
  /** Upper bound of the reply in tokens of the answering model. */
  maxTokens: number;
  thinking: Thinking;
  responseFormat: 'text' | 'json_object';
  signal: AbortSignal;
}

/** Why a model stopped. `unfinished`: the stream ended without the provider saying so (R125). */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'unfinished';

/** Token counts as the provider reported them; null where it reported none. */
export interface TokenUsage {
  promptTokens: number | null;
  completionTokens: number | null;
}

export interface ModelReply {
  /** The answer alone; reasoning and think-tags are kept apart. */
  content: string;
  reasoningContent: string;
  finishReason: FinishReason;
  usage: TokenUsage;
}

export interface ReplyDelta {
  content: string;
  reasoningContent: string;
}

/**
 * A chat model, remote or offline. Both methods throw `ModelError` on failure and an AbortError-like
 * `ModelError` with code `aborted` when `signal` fires; they never return a partial reply as `stop`.
 */
export interface ChatModel {
  readonly name: string;
  readonly offline: boolean;
  generate(request: ModelRequest): Promise<ModelReply>;
  /** Calls `onDelta` in order and waits for it, so that a slow reader slows the model down. */
  streamOpenAi(request: ModelRequest, onDelta: (delta: ReplyDelta) => void | Promise<void>): Promise<ModelReply>;
}

/** Turns texts into vectors. `dimensions` is known after the first call where it is not configured. */
export interface Embedder {
  readonly model: string;
  /** One vector for each text, in order. Throws `ModelError`. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}
