import type { VectorHit } from '../server/knowledge/retrieval/vector-leg.ts';
import { hashedEmbedding } from '../server/testing/hashed-embedding.ts';
import type { CorpusParagraph } from './bench-data.ts';

/** Answers a question as a vector leg would. `gold`: only a leg that is meant to be good looks at it. */
export type SimulatedLeg = (question: { text: string; gold: readonly string[] }) => VectorHit[];

const LEG_HITS = 100;
const HASHED_DIMENSIONS = 256;

/** Paragraphs drawn at random: a model that does not know the language. */
export function randomLeg(corpus: readonly CorpusParagraph[]): SimulatedLeg {
  const random = seededRandom(7);
  return () =>
    ranked(
      Array.from({ length: LEG_HITS }, () => ({ index: pick(corpus.length, random), score: random() })),
      corpus,
    );
}

/** Bags of hashed characters and pairs: a worse copy of the keywords, which agrees with them and is often wrong. */
export function hashedLeg(corpus: readonly CorpusParagraph[]): SimulatedLeg {
  const vectors = new Float32Array(corpus.length * HASHED_DIMENSIONS);
  for (const [index, { title, content }] of corpus.entries()) {
    vectors.set(hashedEmbedding(`${title}\n${content}`, HASHED_DIMENSIONS), index * HASHED_DIMENSIONS);
  }
  return ({ text }) => {
    const query = Float32Array.from(hashedEmbedding(text, HASHED_DIMENSIONS));
    return ranked(nearest(vectors, query), corpus);
  };
}

/**
 * Gold raised by `signal` standard deviations over noise, among the best noise of the whole corpus. 2 finds few of the gold, 4.3
 * about two thirds.
 */
export function signalLeg(corpus: readonly CorpusParagraph[], signal: number): SimulatedLeg {
  const random = seededRandom(11);
  const indexByKey = new Map(corpus.map((paragraph, index) => [paragraph.key, index]));
  return ({ gold }) => {
    const scored = bestOfNoise(corpus.length, random).map((score) => ({ index: pick(corpus.length, random), score }));
    for (const key of gold) {
      const index = indexByKey.get(key);
      if (index !== undefined) scored.push({ index, score: signal + gauss(random) });
    }
    return ranked(scored, corpus);
  };
}

interface Scored {
  index: number;
  score: number;
}

function nearest(vectors: Float32Array, query: Float32Array): Scored[] {
  const scored: Scored[] = [];
  for (let index = 0; index * HASHED_DIMENSIONS < vectors.length; index += 1) {
    let score = 0;
    const start = index * HASHED_DIMENSIONS;
    for (let place = 0; place < HASHED_DIMENSIONS; place += 1)
      score += (vectors[start + place] ?? 0) * (query[place] ?? 0);
    scored.push({ index, score });
  }
  return scored;
}

function ranked(scored: readonly Scored[], corpus: readonly CorpusParagraph[]): VectorHit[] {
  const seen = new Set<number>();
  const hits: VectorHit[] = [];
  for (const { index, score } of [...scored].sort((a, b) => b.score - a.score)) {
    if (seen.has(index)) continue;
    seen.add(index);
    hits.push({ paragraphId: corpus[index]?.key ?? '', documentId: '', number: index, score });
    if (hits.length === LEG_HITS) break;
  }
  return hits;
}

/** The highest of `population` normal scores, from their expected tail: ln(population / rank) by Rényi's representation. */
function bestOfNoise(population: number, random: () => number): number[] {
  let tail = 0;
  return Array.from({ length: LEG_HITS }, () => {
    tail -= Math.log(1 - random());
    const log = Math.max(Math.log(population / tail), 0.1);
    return Math.sqrt(2 * log) - Math.log(4 * Math.PI * log) / (2 * Math.sqrt(2 * log));
  });
}

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function pick(length: number, random: () => number): number {
  return Math.floor(random() * length);
}

/** Mulberry32: the same draws in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
