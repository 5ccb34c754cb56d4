import type { CostedRound } from '../agent/request-budget.ts';

/** A finished round as the window sees it; `tokens` is the estimate of question and answer together. */
export interface HistoryRound extends CostedRound {
  recordId: string;
}

/** More rounds than this are stored as a setting, never carried (R52). */
export const MAX_DIALOGUE_NUMBER = 20;
/** Recent rounds always get at least this budget (R52). */
const MIN_RECENT_TOKENS = 128;
/** A summary may take a third of the limit, and never more than this (R46). */
const MAX_SUMMARY_TOKENS = 1800;

export interface WindowRequest {
  /** Every round that no summary holds yet, oldest first. */
  rounds: readonly HistoryRound[];
  summaryTokens: number;
  /** The application's `dialogue_number`; 0 switches history off (R69). */
  dialogueNumber: number;
  /** `kb.context.recent_tokens` */
  recentTokens: number;
}

/** `carried`: oldest first. `exceeded`: over the limit, so that older rounds stay behind (R45). */
export interface HistoryWindow {
  carried: HistoryRound[];
  exceeded: boolean;
  tokens: number;
}

/**
 * Chooses the rounds that travel along. Below the limit all of them (R49, R50), exactly at it too (R51);
 * over it the newest within the target number and the budget, at least one (R52, R53). Pure; never throws.
 */
export function chooseWindow(request: WindowRequest): HistoryWindow {
  if (request.dialogueNumber === 0) return { carried: [], exceeded: false, tokens: 0 };
  const total = request.summaryTokens + sumTokens(request.rounds);
  if (total <= request.recentTokens) return { carried: [...request.rounds], exceeded: false, tokens: total };
  const carried = newestWithin(
    request.rounds,
    Math.min(request.dialogueNumber, MAX_DIALOGUE_NUMBER),
    Math.max(MIN_RECENT_TOKENS, request.recentTokens - summaryAllowance(request.recentTokens)),
  );
  return { carried, exceeded: true, tokens: request.summaryTokens + sumTokens(carried) };
}

/** The most tokens a summary may have (R46). */
export function summaryAllowance(recentTokens: number): number {
  return Math.min(MAX_SUMMARY_TOKENS, Math.floor(recentTokens / 3));
}

function newestWithin(rounds: readonly HistoryRound[], count: number, budget: number): HistoryRound[] {
  const carried: HistoryRound[] = [];
  let left = budget;
  for (const round of rounds.slice(-count).reverse()) {
    if (round.tokens > left && carried.length > 0) break;
    left -= round.tokens;
    carried.unshift(round);
  }
  return carried;
}

function sumTokens(rounds: readonly HistoryRound[]): number {
  return rounds.reduce((sum, round) => sum + round.tokens, 0);
}
