import { fuse } from './fuse.ts';
import type { KeywordLeg, ReferenceHit } from './keyword-leg.ts';
import type { Explanation } from './search.ts';
import type { VectorHit } from './vector-leg.ts';

/** A place in the result, before the paragraph's text is read. */
export interface RankedResult {
  paragraphId: string;
  similarity: number;
  comprehensiveScore: number;
  explanation: Explanation;
}

/** Legs that were not used are null. */
export interface Legs {
  keyword: KeywordLeg | null;
  vector: readonly VectorHit[] | null;
  topN: number;
}

/** Paragraphs that a reference without a text's name brings lead at most this share of the list when more was asked. */
const LOOSE_REFERENCE_SHARE = 0.5;

/** Puts exact references first and the fused legs behind them. At most `topN`, best first. Pure; never throws. */
export function rankResults({ keyword, vector, topN }: Legs): RankedResult[] {
  const keywordRanks = ranksOf(keyword?.hits ?? []);
  const vectorRanks = ranksOf(vector ?? []);
  const references = leadingReferences(keyword, topN);
  const leading = new Set(references.map((hit) => hit.paragraphId));
  const ceiling = keyword?.ceiling ?? 0;
  const fused = fuse({
    keyword: (keyword?.hits ?? []).map((hit) => ({ id: hit.paragraphId, score: hit.weighted })),
    vector: (vector ?? []).map((hit) => ({ id: hit.paragraphId, score: hit.score })),
    keywordCoverage: keyword?.coverage ?? 0,
  });
  const results: RankedResult[] = [];
  const add = (id: string, comprehensiveScore: number, reference: ReferenceHit | undefined): void => {
    const own = keywordRanks.get(id) ?? null;
    const near = vectorRanks.get(id) ?? null;
    const found = share(own?.score ?? reference?.score ?? 0, ceiling);
    results.push({
      paragraphId: id,
      similarity: Math.max(reference?.exact ? 1 : found, near?.score ?? 0),
      comprehensiveScore,
      explanation: { keyword: own, vector: near, reference: reference ? explain(reference) : null },
    });
  };
  for (const reference of references) add(reference.paragraphId, 1, reference);
  for (const { id, score } of fused) if (!leading.has(id) && results.length < topN) add(id, score, undefined);
  return results;
}

function leadingReferences(keyword: KeywordLeg | null, topN: number): ReferenceHit[] {
  if (!keyword) return [];
  const exact = keyword.references.filter((hit) => hit.exact);
  const loose = keyword.references.filter((hit) => !hit.exact);
  const room = keyword.hasOtherTerms ? Math.ceil(topN * LOOSE_REFERENCE_SHARE) : topN;
  return [...exact, ...loose.slice(0, Math.max(0, room - exact.length))].slice(0, topN);
}

function explain({ reference, exact }: ReferenceHit): Explanation['reference'] {
  return { number: /^§s?([\d.a-z-]+)/.exec(reference)?.[1] ?? '', exact };
}

function ranksOf(
  hits: readonly { paragraphId: string; score: number }[],
): Map<string, { rank: number; score: number }> {
  return new Map(hits.map((hit, index) => [hit.paragraphId, { rank: index + 1, score: hit.score }]));
}

function share(score: number, ceiling: number): number {
  return ceiling > 0 ? Math.min(1, Math.max(0, score / ceiling)) : 0;
}
