/** A ranked list of one leg, best first. */
export interface RankedLeg {
  ids: readonly string[];
}

/** What fusion knows of the legs. `keywordConfidence`: share of the query the best keyword hit covers, 0–1. */
export interface FusionInput {
  keyword: readonly string[];
  vector: readonly string[];
  keywordConfidence: number;
}

/** One paragraph of the fused list. `score`: 0–1, falling along the list. */
export interface FusedHit {
  id: string;
  score: number;
}

/** Reciprocal rank constant. Source: Cormack, Clarke & Büttcher, SIGIR 2009. */
const RANK_CONSTANT = 60;

const MIN_VECTOR_WEIGHT = 0.2;

/** Fuses two ranked lists. Never throws. */
export function fuse({ keyword, vector, keywordConfidence }: FusionInput): FusedHit[] {
  const weight = vectorWeight({ keyword, vector, keywordConfidence });
  const scores = new Map<string, number>();
  const add = (ids: readonly string[], legWeight: number): void => {
    ids.forEach((id, index) => {
      scores.set(id, (scores.get(id) ?? 0) + (legWeight * (RANK_CONSTANT + 1)) / (RANK_CONSTANT + 1 + index));
    });
  };
  add(keyword, 1 - weight);
  add(vector, weight);
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}

function vectorWeight({ keyword, keywordConfidence }: FusionInput): number {
  if (keyword.length === 0) return 1;
  return keywordConfidence < 0.1 ? 1 - MIN_VECTOR_WEIGHT : MIN_VECTOR_WEIGHT;
}
