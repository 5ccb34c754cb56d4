import type { ChatModel, Round } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { countTokens } from '../../models/tokens.ts';
import { rewriteMessage, systemPrompt } from './prompts.ts';
import { type CostedRound, fitRequest, type RequestLimits } from './request-budget.ts';
import { NO_USAGE, type Usage, usageOf } from './usage.ts';

/** A query for one search; more than this is no query any more. */
const MAX_QUERY_TOKENS = 512;

export interface RewriteRequest {
  question: string;
  summary: string;
  /** Oldest first. */
  rounds: readonly CostedRound[];
  contextTokens: number;
  signal: AbortSignal;
}

/** `note`: why the question itself is used, for the trace; null where it was rewritten or needed nothing. */
export interface Rewritten {
  query: string;
  rewritten: boolean;
  note: string | null;
  usage: Usage;
}

/**
 * Turns a follow-up into a standalone query (R5). Without history no model is called. A failed, truncated
 * or blank rewrite leaves the original question and says so. Throws only when aborted.
 */
export async function rewriteQuestion(model: ChatModel, request: RewriteRequest): Promise<Rewritten> {
  const { question, rounds, summary } = request;
  if (rounds.length === 0 && summary === '') return unchanged(question, { note: null, usage: NO_USAGE });
  const messages = rewriteMessages(request, { contextTokens: request.contextTokens, maxTokens: MAX_QUERY_TOKENS });
  try {
    const reply = await model.generate({
      task: { kind: 'rewrite', question, summary, rounds },
      messages,
      maxTokens: MAX_QUERY_TOKENS,
      thinking: 'disabled',
      responseFormat: 'text',
      signal: request.signal,
    });
    const usage = usageOf(reply, messages);
    if (reply.finishReason !== 'stop') {
      return unchanged(question, { note: `rewriting ended as ${reply.finishReason}`, usage });
    }
    const query = reply.content.trim().replace(/^["“]([^"“”]*)["”]$/, '$1');
    if (query === '') return unchanged(question, { note: 'rewriting gave nothing', usage });
    return { query, rewritten: query !== question, note: null, usage };
  } catch (error) {
    request.signal.throwIfAborted();
    if (!(error instanceof ModelError)) throw error;
    return unchanged(question, { note: `rewriting failed: ${error.code}`, usage: NO_USAGE });
  }
}

function rewriteMessages(request: RewriteRequest, limits: RequestLimits) {
  const kept = newestThatFit(request.rounds, limits.contextTokens / 2);
  const user = rewriteMessage({ kind: 'rewrite', ...request, rounds: kept });
  return fitRequest(
    {
      system: systemPrompt('rewrite'),
      summary: null,
      rounds: [],
      passages: [],
      user: () => user,
      fixedUserTokens: countTokens(user),
    },
    limits,
  ).messages;
}

function newestThatFit(rounds: readonly CostedRound[], room: number): Round[] {
  const kept: Round[] = [];
  let left = room;
  for (const round of [...rounds].reverse()) {
    left -= round.tokens;
    if (left < 0 && kept.length > 0) break;
    kept.unshift(round);
  }
  return kept;
}

function unchanged(question: string, { note, usage }: Pick<Rewritten, 'note' | 'usage'>): Rewritten {
  return { query: question, rewritten: false, note, usage };
}
