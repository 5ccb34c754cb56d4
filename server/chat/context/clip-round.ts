import type { Round } from '../../models/chat-model.ts';
import { clipToTokens } from '../../models/tokens.ts';
import type { RoundLimits } from './compaction-plan.ts';

/** Stands where a message of the history was cut (R58). */
export const CLIP_MARKER = ' …[clipped]';

/** Clips both messages of a round, between characters and with a visible marker. Never throws. */
export function clipRound(round: Round, limits: RoundLimits): Round {
  return {
    question: clipToTokens(round.question, limits.questionTokens, CLIP_MARKER),
    answer: clipToTokens(round.answer, limits.answerTokens, CLIP_MARKER),
  };
}

/**
 * Limits under which a round of `size` has at most `tokens` (R54): the shorter message stays whole where it takes
 * less than half, and the longer one gets what is left.
 */
export function fitRound(size: { questionTokens: number; answerTokens: number }, tokens: number): RoundLimits {
  const half = Math.floor(tokens / 2);
  if (size.questionTokens <= half) {
    return { questionTokens: size.questionTokens, answerTokens: tokens - size.questionTokens };
  }
  if (size.answerTokens <= half) return { questionTokens: tokens - size.answerTokens, answerTokens: size.answerTokens };
  return { questionTokens: half, answerTokens: half };
}
