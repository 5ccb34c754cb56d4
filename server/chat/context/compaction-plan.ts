import { type RoundSize, summaryAllowance } from './window.ts';

/** One merge takes at most this much of the conversation (R46). */
const MAX_BATCH_ROUNDS = 20;
const MAX_BATCH_TOKENS = 6000;
/** A message is clipped to this before it is merged (R46). */
const MAX_QUESTION_TOKENS = 2000;
const MAX_ANSWER_TOKENS = 3500;
/** System prompt, tags and roles of a summarising request, with room to spare; a test counts them. */
const REQUEST_OVERHEAD_TOKENS = 700;
/** Tags around one round. */
const ROUND_OVERHEAD_TOKENS = 24;

/** How much each message of a round may have in a batch, in tokens. */
export interface RoundLimits {
  questionTokens: number;
  answerTokens: number;
}

/** `batches`: consecutive, oldest round first. `limits`: what their rounds must be clipped to. */
export interface CompactionPlan {
  batches: RoundSize[][];
  limits: RoundLimits;
}

/**
 * Cuts the rounds that stay behind into batches of at most 20 rounds and 6000 tokens, smaller where the request
 * (old summary, batch and new summary together) would exceed `contextTokens` (R46). `older`: oldest first.
 * Nothing older, no batch (R54). Pure; never throws.
 */
export function planCompaction(
  older: readonly RoundSize[],
  { recentTokens, contextTokens }: { recentTokens: number; contextTokens: number },
): CompactionPlan {
  const room = contextTokens - 2 * summaryAllowance(recentTokens) - REQUEST_OVERHEAD_TOKENS;
  const budget = Math.min(MAX_BATCH_TOKENS, room);
  const limits = roundLimits(budget);
  const batches: RoundSize[][] = [];
  let left = 0;
  for (const round of older) {
    const cost = clippedTokens(round, limits) + ROUND_OVERHEAD_TOKENS;
    const last = batches.at(-1);
    if (last && last.length < MAX_BATCH_ROUNDS && cost <= left) {
      last.push(round);
      left -= cost;
    } else {
      batches.push([round]);
      left = budget - cost;
    }
  }
  return { batches, limits };
}

/** A single round always fits a batch; its answer gets the larger part, as in the limits it has with room enough. */
function roundLimits(budget: number): RoundLimits {
  const whole = MAX_QUESTION_TOKENS + MAX_ANSWER_TOKENS;
  const share = Math.min(1, (budget - ROUND_OVERHEAD_TOKENS) / whole);
  return {
    questionTokens: Math.floor(MAX_QUESTION_TOKENS * share),
    answerTokens: Math.floor(MAX_ANSWER_TOKENS * share),
  };
}

function clippedTokens(round: RoundSize, limits: RoundLimits): number {
  return Math.min(round.questionTokens, limits.questionTokens) + Math.min(round.answerTokens, limits.answerTokens);
}
