import type { FinishReason, ModelReply, ReplyDelta, TokenUsage } from './chat-model.ts';
import { readFinishReason, type WireCompletion } from './chat-wire.ts';
import { ThinkSplitter, type ThinkTags } from './think-splitter.ts';

/**
 * Puts a reply together from its pieces, with the reasoning kept apart. Where the service delivers reasoning of its
 * own, that is the reasoning, and a think block in the answer is dropped rather than shown twice.
 */
export class ReplyCollector {
  readonly #splitter: ThinkSplitter;
  #content = '';
  #reasoning = '';
  #hasOwnReasoning = false;
  #finishReason: FinishReason | undefined;
  #usage: TokenUsage = { promptTokens: null, completionTokens: null };

  constructor(tags: ThinkTags) {
    this.#splitter = new ThinkSplitter(tags);
  }

  /** True once the service has said why it stopped. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Adds a chunk or a whole completion. Returns what it brings; both parts may be empty. */
  add({ choices, usage }: WireCompletion): ReplyDelta {
    if (usage) {
      this.#usage = { promptTokens: usage.prompt_tokens ?? null, completionTokens: usage.completion_tokens ?? null };
    }
    const choice = choices?.[0];
    this.#finishReason ??= readFinishReason(choice?.finish_reason);
    const message = choice?.delta ?? choice?.message;
    const ownReasoning = message?.reasoning_content || message?.reasoning || '';
    if (ownReasoning !== '') this.#hasOwnReasoning = true;
    return this.#keep(this.#splitter.push(message?.content ?? ''), ownReasoning);
  }

  /** Ends the reply. Returns what was withheld until now. */
  flush(): ReplyDelta {
    return this.#keep(this.#splitter.flush(), '');
  }

  reply(): ModelReply {
    return {
      content: this.#content,
      reasoningContent: this.#reasoning,
      finishReason: this.#finishReason ?? 'unfinished',
      usage: this.#usage,
    };
  }

  #keep(split: ReplyDelta, ownReasoning: string): ReplyDelta {
    const reasoningContent = this.#hasOwnReasoning ? ownReasoning : split.reasoningContent;
    this.#content += split.content;
    this.#reasoning += reasoningContent;
    return { content: split.content, reasoningContent };
  }
}
