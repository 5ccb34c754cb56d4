import type { StopReason } from '../../../contract/chat.ts';
import { queryKey } from '../../text/query-key.ts';

/** A verifier never answers a question; it only says what the evidence covers (R11, R12). */
export type Verdict =
  | { kind: 'judged'; sufficient: boolean; missing: string; queries: string[] }
  | { kind: 'failed'; why: string };

/** What a finished round looks like to the stop rules. */
export interface RoundOutcome {
  round: number;
  maxRounds: number;
  verdict: Verdict;
  totalEvidence: number;
  newEvidence: number;
  /** A hit was refused by a limit. */
  refused: boolean;
  /** Keys (`queryKey`) of every query of this question so far. */
  askedKeys: ReadonlySet<string>;
}

export type NextStep = { kind: 'stop'; reason: StopReason } | { kind: 'search'; queries: string[] };

/** At most two queries a round (R13). */
export const MAX_QUERIES_PER_ROUND = 2;

/**
 * Decides what follows a round. The reason that says most comes first; `max_rounds` is given only where
 * the search would otherwise have gone on. Pure; never throws.
 */
export function decideNextStep(outcome: RoundOutcome): NextStep {
  const { verdict } = outcome;
  if (verdict.kind === 'failed') return stop('assessment_error');
  if (isSufficient(outcome)) return stop('sufficient');
  if (outcome.refused) return stop('evidence_budget');
  if (outcome.round > 1 && outcome.newEvidence === 0) return stop('no_new_evidence');
  if (verdict.queries.length === 0) return stop('no_followup_query');
  const queries = newQueries(verdict.queries, outcome.askedKeys);
  if (queries.length === 0) return stop('duplicate_query');
  if (outcome.round >= outcome.maxRounds) return stop('max_rounds');
  return { kind: 'search', queries };
}

/** Empty evidence is never sufficient, whatever the model says (R42); nor is a failed verification (R32). */
export function isSufficient(outcome: Pick<RoundOutcome, 'verdict' | 'totalEvidence'>): boolean {
  return outcome.verdict.kind === 'judged' && outcome.verdict.sufficient && outcome.totalEvidence > 0;
}

/** The first two queries that repeat neither an earlier one nor each other, in order. */
export function newQueries(queries: readonly string[], askedKeys: ReadonlySet<string>): string[] {
  const seen = new Set(askedKeys);
  const fresh: string[] = [];
  for (const query of queries) {
    const key = queryKey(query);
    if (key === '' || seen.has(key)) continue;
    seen.add(key);
    fresh.push(query);
  }
  return fresh.slice(0, MAX_QUERIES_PER_ROUND);
}

function stop(reason: StopReason): NextStep {
  return { kind: 'stop', reason };
}
