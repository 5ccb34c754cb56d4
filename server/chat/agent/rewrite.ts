import type { ChatModel, Round } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { countTokens } from '../../models/tokens.ts';
import { rewriteMessage, systemPrompt } from './prompts.ts';
import { type CostedRound, fitRequest, type RequestLimits } from './request-budget.ts';

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
  usage: { promptTokens: number; completionTokens: number };
}

/**
 * Turns a follow-up into a standalone query (R5). Without history no model is called. A failed, truncated
 * or blank rewrite leaves the original question and says so. Throws only when aborted.
 */
export async function rewriteQuestion(model: ChatModel, request: RewriteRequest): Promise<Rewritten> {
  const { question, rounds, summary } = request;
  if (rounds.length === 0 && summary === '') return unchanged(question, null);
  try {
    const reply = await model.generate({
      task: { kind: 'rewrite', question, summary, rounds },
      messages: rewriteMessages(request, { contextTokens: request.contextTokens, maxTokens: MAX_QUERY_TOKENS }),
      maxTokens: MAX_QUERY_TOKENS,
      thinking: 'disabled',
      responseFormat: 'text',
      signal: request.signal,
    });
    if (reply.finishReason !== 'stop') return unchanged(question, `rewriting ended as ${reply.finishReason}`);
    const query = reply.content.trim().replace(/^["“]([^"“”]*)["”]$/, '$1');
    if (query === '') return unchanged(question, 'rewriting gave nothing');
    const usage = {
      promptTokens: reply.usage.promptTokens ?? 0,
      completionTokens: reply.usage.completionTokens ?? 0,
    };
    return { query, rewritten: query !== question, note: null, usage };
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof ModelError) return unchanged(question, `rewriting failed: ${error.code}`);
    throw error;
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

function unchanged(question: string, note: string | null): Rewritten {
  return { query: question, rewritten: false, note, usage: { promptTokens: 0, completionTokens: 0 } };
}
