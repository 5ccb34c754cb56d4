/** What a finished round costs, without its words. `index`: its place in the chat; the other numbers are tokens. */
export interface RoundSize {
  recordId: string;
  index: number;
  questionTokens: number;
  answerTokens: number;
  /** Of question and answer together. */
  tokens: number;
}

/** More rounds than this are stored as a setting, never carried (R52). */
export const MAX_DIALOGUE_NUMBER = 20;
/** Recent rounds always get at least this budget (R52). */
const MIN_RECENT_TOKENS = 128;
/** A summary may take a third of the limit, and never more than this (R46). */
const MAX_SUMMARY_TOKENS = 1800;

export interface WindowRequest {
  /** Every round that no summary holds yet, oldest first. */
  rounds: readonly RoundSize[];
  summaryTokens: number;
  /** The application's `dialogue_number`; 0 switches history off (R69). */
  dialogueNumber: number;
  /** `kb.context.recent_tokens` */
  recentTokens: number;
}

/** `carried`, and `older`, which stay behind: oldest first. `exceeded`: over the limit (R45). `tokens`: with the summary. */
export interface HistoryWindow {
  carried: RoundSize[];
  older: RoundSize[];
  exceeded: boolean;
  tokens: number;
}

/**
 * Chooses the rounds that travel along. Below the limit all of them (R49, R50), exactly at it too (R51);
 * over it the newest within the target number and the budget, at least one (R52, R53). Pure; never throws.
 */
export function chooseWindow(request: WindowRequest): HistoryWindow {
  if (request.dialogueNumber === 0) return { carried: [], older: [], exceeded: false, tokens: 0 };
  const total = request.summaryTokens + sumTokens(request.rounds);
  if (total <= request.recentTokens) return { carried: [...request.rounds], older: [], exceeded: false, tokens: total };
  const carried = newestWithin(
    request.rounds,
    Math.min(request.dialogueNumber, MAX_DIALOGUE_NUMBER),
    recentAllowance(request.recentTokens),
  );
  const older = request.rounds.slice(0, request.rounds.length - carried.length);
  return { carried, older, exceeded: true, tokens: request.summaryTokens + sumTokens(carried) };
}

/** The most tokens a summary may have (R46). */
export function summaryAllowance(recentTokens: number): number {
  return Math.min(MAX_SUMMARY_TOKENS, Math.floor(recentTokens / 3));
}

/** The most tokens that recent rounds have once the conversation is over the limit (R52). */
export function recentAllowance(recentTokens: number): number {
  return Math.max(MIN_RECENT_TOKENS, recentTokens - summaryAllowance(recentTokens));
}

function newestWithin(rounds: readonly RoundSize[], count: number, budget: number): RoundSize[] {
  const carried: RoundSize[] = [];
  let left = budget;
  for (const round of rounds.slice(-count).reverse()) {
    if (round.tokens > left && carried.length > 0) break;
    left -= round.tokens;
    carried.unshift(round);
  }
  return carried;
}

function sumTokens(rounds: readonly RoundSize[]): number {
  return rounds.reduce((sum, round) => sum + round.tokens, 0);
}
