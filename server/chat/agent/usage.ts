import type { ChatMessage, ModelReply } from '../../models/chat-model.ts';
import { countTokens } from '../../models/tokens.ts';

/** Tokens of one or more model calls. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
}

export const NO_USAGE: Readonly<Usage> = { promptTokens: 0, completionTokens: 0 };

/** What the model counted, or the local estimate where it said nothing. */
export function usageOf(reply: ModelReply, messages: readonly ChatMessage[]): Usage {
  return {
    promptTokens: reply.usage.promptTokens ?? messages.reduce((sum, { content }) => sum + countTokens(content), 0),
    completionTokens: reply.usage.completionTokens ?? countTokens(reply.content),
  };
}
