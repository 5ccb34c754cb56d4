import type { ChatModel } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { countTokens } from '../../models/tokens.ts';
import { parseVerdict } from './parse-verdict.ts';
import { assessMessage, systemPrompt } from './prompts.ts';
import { type CostedPassage, fitRequest } from './request-budget.ts';
import type { Verdict } from './stop-rules.ts';
import { NO_USAGE, type Usage, usageOf } from './usage.ts';

/** A verdict is one small object; a longer one is truncated and so no verdict (R19). */
const MAX_VERDICT_TOKENS = 512;

export interface VerifyRequest {
  question: string;
  passages: readonly CostedPassage[];
  searchedQueries: readonly string[];
  contextTokens: number;
  signal: AbortSignal;
}

export interface Verified {
  verdict: Verdict;
  usage: Usage;
}

/**
 * Asks the verifier whether the passages cover all parts of the question (R7). A failed call, a truncated
 * or unreadable reply is a failed verdict, never an exception (R31). Throws only when aborted.
 */
export async function verifyEvidence(model: ChatModel, request: VerifyRequest): Promise<Verified> {
  const base = { kind: 'assess', question: request.question, searchedQueries: request.searchedQueries } as const;
  const fitted = fitRequest(
    {
      system: systemPrompt('assess'),
      summary: null,
      rounds: [],
      passages: request.passages,
      user: (passages) => assessMessage({ ...base, passages }),
      fixedUserTokens: countTokens(assessMessage({ ...base, passages: [] })),
    },
    { contextTokens: request.contextTokens, maxTokens: MAX_VERDICT_TOKENS },
  );
  try {
    const reply = await model.generate({
      task: { ...base, passages: fitted.passages },
      messages: fitted.messages,
      maxTokens: MAX_VERDICT_TOKENS,
      thinking: 'disabled',
      responseFormat: 'json_object',
      signal: request.signal,
    });
    const usage = usageOf(reply, fitted.messages);
    if (reply.finishReason !== 'stop') return { verdict: failed(`it ended as ${reply.finishReason}`), usage };
    return { verdict: parseVerdict(reply.content), usage };
  } catch (error) {
    request.signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    return { verdict: failed(error.code), usage: NO_USAGE };
  }
}

function failed(why: string): Verdict {
  return { kind: 'failed', why };
}
