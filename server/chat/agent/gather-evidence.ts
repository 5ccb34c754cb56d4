import type { AgentStatus, StopReason, TraceRow } from '../../../contract/chat.ts';
import { queryKey } from '../../text/query-key.ts';
import { type Evidence, type EvidenceLimits, EvidenceSet, type SearchHit } from './evidence.ts';
import { decideNextStep, isSufficient, MAX_QUERIES_PER_ROUND, type Verdict } from './stop-rules.ts';

/** What the loop needs from outside. `search` and `assess` may throw, which ends the loop. */
export interface GatherPorts {
  search(query: string): Promise<SearchHit[]>;
  /** Never throws for a model's failure: that is a verdict (`failed`). Throws when aborted. */
  assess(request: AssessRequest): Promise<Verdict>;
  /** A round is over: what is known so far, kept also when a later round fails. */
  onRound(soFar: { evidence: Evidence[]; trace: TraceRow[] }): void;
  emit(status: AgentStatus): void | Promise<void>;
}

export interface AssessRequest {
  question: string;
  /** All of it so far, in the order of its numbers. */
  evidence: Evidence[];
  searchedQueries: string[];
}

export interface GatherRequest {
  /** Standing alone (R5): the first query, and what is judged for coverage of all its parts (R7). */
  question: string;
  hasDatasets: boolean;
  maxRounds: number;
  limits: EvidenceLimits;
  signal: AbortSignal;
}

/** `gap`: what the evidence does not cover; empty where it is sufficient. */
export interface Gathered {
  evidence: Evidence[];
  trace: TraceRow[];
  stopReason: StopReason;
  gap: string;
}

/**
 * Searches, lets the verifier judge, and searches again for what is missing until a rule says stop (R6–R15,
 * R25–R32). Ends after at most `maxRounds` rounds of at most two queries, always with a reason.
 */
export async function gatherEvidence(request: GatherRequest, ports: GatherPorts): Promise<Gathered> {
  if (!request.hasDatasets) return { evidence: [], trace: [], stopReason: 'no_datasets', gap: request.question };
  const evidence = new EvidenceSet(request.limits);
  const searched: string[] = [];
  const trace: TraceRow[] = [];
  let queries = [request.question];

  for (let round = 1; ; round += 1) {
    await ports.emit({ phase: 'retrieving', round, queries });
    const results = await searchAll(queries, request.signal, ports);
    const added = evidence.add(round, results);
    searched.push(...queries);

    const verdict = await ports.assess({
      question: request.question,
      evidence: evidence.paragraphs,
      searchedQueries: [...searched],
    });
    const outcome = {
      round,
      maxRounds: request.maxRounds,
      verdict,
      totalEvidence: evidence.size,
      newEvidence: added.paragraphs.length,
      refused: added.refused,
      askedKeys: new Set(searched.map(queryKey)),
    };
    const sufficient = isSufficient(outcome);
    const next = decideNextStep(outcome);
    const missing = missingText(verdict, sufficient, request.question);
    trace.push({
      round,
      queries,
      new_paragraph_ids: added.paragraphs.map((paragraph) => paragraph.paragraphId),
      total_evidence: evidence.size,
      sufficient,
      missing,
      next_queries: next.kind === 'search' ? next.queries : proposedQueries(verdict, sufficient),
    });
    ports.onRound({ evidence: evidence.paragraphs, trace: [...trace] });
    await ports.emit({ phase: 'assessed', round, sufficient, missing });
    if (next.kind === 'stop') return { evidence: evidence.paragraphs, trace, stopReason: next.reason, gap: missing };
    queries = next.queries;
  }
}

async function searchAll(queries: readonly string[], signal: AbortSignal, ports: GatherPorts): Promise<SearchHit[][]> {
  const results: SearchHit[][] = [];
  for (const query of queries) {
    signal.throwIfAborted();
    results.push(await ports.search(query));
  }
  signal.throwIfAborted();
  return results;
}

/** A verifier that failed, or forgot to say what is missing, leaves the whole question open. */
function missingText(verdict: Verdict, sufficient: boolean, question: string): string {
  if (sufficient) return '';
  return (verdict.kind === 'judged' && verdict.missing) || question;
}

/** What a stopped round would have asked next: shows in the trace which query was a repeat. */
function proposedQueries(verdict: Verdict, sufficient: boolean): string[] {
  return verdict.kind === 'judged' && !sufficient ? verdict.queries.slice(0, MAX_QUERIES_PER_ROUND) : [];
}
