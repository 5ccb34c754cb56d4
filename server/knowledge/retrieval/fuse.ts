/** A paragraph in the list of one leg, best first. */
export interface LegHit {
  id: string;
  score: number;
}

/** `keywordCoverage`: share of the query's terms, by weight, that the datasets know at all; 0–1. */
export interface FusionInput {
  keyword: readonly LegHit[];
  vector: readonly LegHit[];
  keywordCoverage: number;
}

/** One paragraph of the fused list. `score`: 0–1, never rising along the list. */
export interface FusedHit {
  id: string;
  score: number;
}

/** Reciprocal rank constant. Source: Cormack, Clarke & Büttcher, SIGIR 2009. */
const RANK_CONSTANT = 60;

/**
 * A query most of whose words no paragraph has is in another language or about something else: vectors decide. 754 law
 * questions over their corpus: lowest .30, median .91; 100 English ones over it: highest .18 (2026-12-01).
 */
const MIN_KEYWORD_COVERAGE = 0.25;
const VECTOR_WEIGHT_WITHOUT_WORDS = 0.8;

/**
 * Vector weights by how clearly the vector leg's best stand out (`standout`; noise has about 1). Below 0.5 a paragraph that only
 * vectors found cannot reach the first ten places, but one that both found can rise. Where nothing stands out the keyword leg's
 * first five stay the first five: with a leg that is a worse copy of the keywords (hashed bigrams, R@5 .29) R@5 stays .407, where
 * .2 without that rule makes it .393 and equal weights .361. The price: a strong leg (R@5 .66) on questions whose words are known
 * makes R@5 .42 and R@10 .63 of .41 and .47; limits of 3 and 4 would make them .47 and .65, but lose .001 with weak legs (754 law
 * questions, simulated legs, 2026-12-01; `bench retrieval` has like figures).
 */
const CLEAR = { standout: 6, weight: 0.55 };
const LIKELY = { standout: 4, weight: 0.4 };
const UNCLEAR_WEIGHT = 0.3;
const ANCHORED = 5;

/** Ranks between which a list's scores are compared; a shorter list than the last tells nothing. */
const STANDOUT_RANKS = { top: 0, middle: 9, low: 40, last: 99 } as const;

/**
 * Fuses the two legs by weighted reciprocal rank, with weights that the lists themselves justify. Each id once, best first; ties
 * keep the keyword list's order. Pure; never throws.
 */
export function fuse({ keyword, vector, keywordCoverage }: FusionInput): FusedHit[] {
  if (keyword.length === 0 || vector.length === 0) return byRank(keyword.length === 0 ? vector : keyword);
  const { weight, anchored } = weigh(vector, keywordCoverage);
  const scores = new Map<string, number>();
  const add = (hits: readonly LegHit[], legWeight: number): void => {
    for (const [index, { id }] of hits.entries()) scores.set(id, (scores.get(id) ?? 0) + legWeight * reciprocal(index));
  };
  add(keyword, 1 - weight);
  add(vector, weight);
  const first = new Set(keyword.slice(0, anchored).map((hit) => hit.id));
  const bonus = anchored > 0 ? 0.5 : 0;
  return [...scores]
    .map(([id, score]) => ({ id, score: (first.has(id) ? bonus : 0) + (1 - bonus) * score }))
    .sort((a, b) => b.score - a.score);
}

function byRank(hits: readonly LegHit[]): FusedHit[] {
  return hits.map(({ id }, index) => ({ id, score: reciprocal(index) }));
}

/** 1 for the first place. */
function reciprocal(index: number): number {
  return (RANK_CONSTANT + 1) / (RANK_CONSTANT + 1 + index);
}

function weigh(vector: readonly LegHit[], keywordCoverage: number): { weight: number; anchored: number } {
  if (keywordCoverage < MIN_KEYWORD_COVERAGE) return { weight: VECTOR_WEIGHT_WITHOUT_WORDS, anchored: 0 };
  const ratio = standout(vector);
  if (ratio >= CLEAR.standout) return { weight: CLEAR.weight, anchored: 0 };
  if (ratio >= LIKELY.standout) return { weight: LIKELY.weight, anchored: 0 };
  return { weight: UNCLEAR_WEIGHT, anchored: ANCHORED };
}

/**
 * How far a list's first is above its tenth, in units of how far the tenth is above the hundredth. The best of many random
 * scores fall exponentially, which makes it about 1 whatever the scale. 0 when the list is too short to tell.
 */
function standout(hits: readonly LegHit[]): number {
  const { top, middle, low, last } = STANDOUT_RANKS;
  if (hits.length <= low) return 0;
  const at = (index: number): number => hits[Math.min(index, hits.length - 1)]?.score ?? 0;
  const spread = at(middle) - at(last);
  return spread > 0 ? (at(top) - at(middle)) / spread : 0;
}
