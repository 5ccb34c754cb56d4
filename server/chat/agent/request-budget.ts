import type { ChatMessage, EvidencePassage, Round } from '../../models/chat-model.ts';
import { clipToTokens, countTokens } from '../../models/tokens.ts';

/** The parts of a generation request may hold this many estimated tokens at most (R41). */
export const MAX_SYSTEM_TOKENS = 4000;
export const MAX_USER_TOKENS = 28_000;

/** Roles and separators of one message. */
const MESSAGE_OVERHEAD_TOKENS = 8;
const CLIP_MARKER = ' …[clipped]';

/** A passage with what it costs and its best place in a search, from 1. */
export interface CostedPassage extends EvidencePassage {
  tokens: number;
  rank: number;
}

export interface CostedRound extends Round {
  tokens: number;
}

export interface RequestParts {
  system: string;
  summary: ChatMessage | null;
  rounds: readonly CostedRound[];
  passages: readonly CostedPassage[];
  /** Renders the last user message from the passages that stay. */
  user(passages: readonly EvidencePassage[]): string;
  /** Tokens of the last user message without any passage. */
  fixedUserTokens: number;
}

export interface RequestLimits {
  contextTokens: number;
  maxTokens: number;
}

/** `droppedPassages`: the numbers of those left out, ascending. */
export interface FittedRequest {
  messages: ChatMessage[];
  passages: CostedPassage[];
  droppedPassages: number[];
  droppedRounds: number;
}

/**
 * Makes a request fit (R41): first whole passages go, lowest ranked first, then the oldest rounds, then the
 * summary; the question never. Token counts are the local estimate (R40). Never throws.
 */
export function fitRequest(parts: RequestParts, limits: RequestLimits): FittedRequest {
  const system = clipToTokens(parts.system, MAX_SYSTEM_TOKENS, CLIP_MARKER);
  const whole = limits.contextTokens - limits.maxTokens - countTokens(system) - 2 * MESSAGE_OVERHEAD_TOKENS;
  const summaryTokens = parts.summary ? countTokens(parts.summary.content) + MESSAGE_OVERHEAD_TOKENS : 0;
  const historyTokens = parts.rounds.reduce((sum, round) => sum + roundCost(round), summaryTokens);

  const forPassages = Math.min(MAX_USER_TOKENS, whole - historyTokens) - parts.fixedUserTokens;
  const passages = keepBest(parts.passages, forPassages);
  const passageTokens = passages.reduce((sum, passage) => sum + passage.tokens, 0);

  const forHistory = whole - parts.fixedUserTokens - passageTokens;
  const summary = summaryTokens <= forHistory ? parts.summary : null;
  const rounds = keepNewest(parts.rounds, forHistory - (summary ? summaryTokens : 0));
  return {
    messages: [
      { role: 'system', content: system },
      ...(summary ? [summary] : []),
      ...rounds.flatMap(roundMessages),
      { role: 'user', content: parts.user(passages) },
    ],
    passages,
    droppedPassages: parts.passages.filter((passage) => !passages.includes(passage)).map((passage) => passage.n),
    droppedRounds: parts.rounds.length - rounds.length,
  };
}

/** Keeps passages by rank while they fit, and gives them back in the order of their numbers. */
function keepBest(passages: readonly CostedPassage[], room: number): CostedPassage[] {
  const byRank = [...passages].sort((a, b) => a.rank - b.rank || a.n - b.n);
  const kept = new Set<CostedPassage>();
  let left = room;
  for (const passage of byRank) {
    if (passage.tokens > left) break;
    left -= passage.tokens;
    kept.add(passage);
  }
  return passages.filter((passage) => kept.has(passage));
}

function keepNewest(rounds: readonly CostedRound[], room: number): CostedRound[] {
  const kept: CostedRound[] = [];
  let left = room;
  for (const round of [...rounds].reverse()) {
    if (roundCost(round) > left) break;
    left -= roundCost(round);
    kept.unshift(round);
  }
  return kept;
}

function roundCost(round: CostedRound): number {
  return round.tokens + 2 * MESSAGE_OVERHEAD_TOKENS;
}

function roundMessages(round: Round): ChatMessage[] {
  return [
    { role: 'user', content: round.question },
    { role: 'assistant', content: round.answer },
  ];
}
