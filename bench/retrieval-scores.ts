import { mean } from './bench.ts';

/** The ranked keys of one question's result beside its gold. */
export interface RankedQuestion {
  gold: readonly string[];
  found: readonly string[];
}

/** Mean share of a question's gold among its first `k`; 0–1. */
export function recallAt(questions: readonly RankedQuestion[], k: number): number {
  return mean(
    questions.map(({ gold, found }) => {
      const first = new Set(found.slice(0, k));
      return gold.filter((key) => first.has(key)).length / gold.length;
    }),
  );
}

/** Mean reciprocal rank of the first gold among the first ten; 0–1. */
export function reciprocalRankAt10(questions: readonly RankedQuestion[]): number {
  return mean(
    questions.map(({ gold, found }) => {
      const place = found.slice(0, 10).findIndex((key) => gold.includes(key));
      return place < 0 ? 0 : 1 / (place + 1);
    }),
  );
}
