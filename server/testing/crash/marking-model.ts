import { setTimeout } from 'node:timers/promises';
import type { ChatModel, ModelReply, ModelRequest, ReplyDelta } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';

/** What every answer of this model says. */
export const MARKED_ANSWER = '年休假10天，差旅报销30日。';

/** The question of round `n`, which a summary then names. */
export function markedQuestion(n: number): string {
  return `#${n} ${'年休假有几天？'.repeat(3)}`;
}

/**
 * Summarises by the numbers of the rounds it was given, one `|` for each merge, so that a summary tells which rounds
 * went into it and how often. It waits a little at each call, as a remote model does.
 */
export class MarkingModel implements ChatModel {
  readonly name = 'marking';
  readonly offline = false;

  async generate({ task, signal }: ModelRequest): Promise<ModelReply> {
    await pause(8, signal);
    switch (task.kind) {
      case 'summarise':
        return replyOf(`${task.summary} ${task.rounds.map(({ question }) => numberOf(question)).join(' ')} |`.trim());
      case 'assess':
        return replyOf('{"sufficient":true,"missing":"","queries":[]}');
      case 'rewrite':
      case 'answer':
        return replyOf(task.question);
    }
  }

  async streamOpenAi(
    { signal }: ModelRequest,
    onDelta: (delta: ReplyDelta) => void | Promise<void>,
  ): Promise<ModelReply> {
    for (const content of MARKED_ANSWER.match(/.{1,4}/gu) ?? []) {
      await pause(5, signal);
      await onDelta({ content, reasoningContent: '' });
    }
    return replyOf(MARKED_ANSWER);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms);
  if (signal.aborted) throw new ModelError({ code: 'aborted', message: 'The request was aborted.', retryable: false });
}

function numberOf(question: string): string {
  return /^#(\d+)/.exec(question)?.[1] ?? '?';
}

function replyOf(content: string): ModelReply {
  return { content, reasoningContent: '', finishReason: 'stop', usage: { promptTokens: 1, completionTokens: 1 } };
}
