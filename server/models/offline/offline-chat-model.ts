import type { ChatModel, ModelReply, ModelRequest, ModelTask, ReplyDelta } from '../chat-model.ts';
import { ModelError } from '../model-error.ts';
import { answerOffline } from './answer-offline.ts';
import { assessOffline } from './assess-offline.ts';
import type { ContentWords } from './coverage.ts';
import { rewriteOffline } from './rewrite-offline.ts';
import { summariseOffline } from './summarise-offline.ts';

/**
 * The model that works with no key and no network: it rewrites by carrying terms over, judges by what the
 * evidence says on each part of a question, and answers by quoting. It never writes a statement of its own.
 */
export class OfflineChatModel implements ChatModel {
  readonly name = 'extractive';
  readonly offline = true;
  readonly #words: ContentWords;

  constructor(words: ContentWords) {
    this.#words = words;
  }

  async generate(request: ModelRequest): Promise<ModelReply> {
    this.#throwIfAborted(request.signal);
    return reply(this.#write(request.task).join(''));
  }

  /** Passes the answer on piece by piece, as a remote model does. */
  async streamOpenAi(request: ModelRequest, onDelta: (delta: ReplyDelta) => void | Promise<void>): Promise<ModelReply> {
    const pieces = this.#write(request.task);
    for (const content of pieces) {
      this.#throwIfAborted(request.signal);
      await onDelta({ content, reasoningContent: '' });
    }
    return reply(pieces.join(''));
  }

  #write(task: ModelTask): string[] {
    switch (task.kind) {
      case 'rewrite':
        return [rewriteOffline(task, this.#words)];
      case 'assess':
        return [JSON.stringify(assessOffline(task, this.#words))];
      case 'answer':
        return answerOffline(task, this.#words);
      case 'summarise':
        return [summariseOffline(task, this.#words)];
    }
  }

  #throwIfAborted(signal: AbortSignal): void {
    if (signal.aborted)
      throw new ModelError({
        code: 'aborted',
        message: 'The request was aborted.',
        retryable: false,
        cause: signal.reason,
      });
  }
}

function reply(content: string): ModelReply {
  return {
    content,
    reasoningContent: '',
    finishReason: 'stop',
    usage: { promptTokens: 0, completionTokens: 0 },
  };
}
