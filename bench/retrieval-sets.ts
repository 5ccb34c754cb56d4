import { join } from 'node:path';
import type { Figure } from './bench.ts';

/** A corpus with its questions. `wanted`: what the project asks of it, by the figure's short name. */
export interface RetrievalSet {
  name: string;
  corpus: string;
  questions: string;
  wanted: Readonly<Record<string, NonNullable<Figure['wanted']>>>;
}

const STATUTES = {
  'R@5': { min: 0.395 },
  'R@10': { min: 0.452 },
  'R@100': { min: 0.65 },
  'exact look-ups first': { min: 0.99 },
  'R@5 with a random vector leg, over keywords alone': { min: 1 },
  'R@5 with a hashed vector leg, over keywords alone': { min: 1 },
  'p95 postgresql': { max: 20 },
} as const;

/** The standard data sets in a folder. `wanted` of the English ones: BM25 with k1 0.9, b 0.4 and Porter stems. */
export function standardSets(folder: string): RetrievalSet[] {
  const english = join(folder, 'multihop-en');
  const reading = join(folder, 'cmrc2018', 'cmrc2018_dev.json');
  return [
    {
      name: 'zhlaw',
      corpus: join(folder, 'zhlaw', 'corpus.jsonl.gz'),
      questions: join(folder, 'zhlaw', 'questions.jsonl'),
      wanted: STATUTES,
    },
    { name: 'cmrc2018', corpus: reading, questions: reading, wanted: { 'R@1': { min: 0.957 } } },
    {
      name: 'musique',
      corpus: join(english, 'musique_train100_corpus.json'),
      questions: join(english, 'musique_train100.json'),
      wanted: { 'R@5': { min: 0.469 } },
    },
    {
      name: 'hotpot',
      corpus: join(english, 'hotpot_train100_corpus.json'),
      questions: join(english, 'hotpot_train100.json'),
      wanted: { 'R@5': { min: 0.76 } },
    },
  ];
}

/** Figures asked of the statute corpus hold for any file in its format. */
export function setOfFiles(corpus: string, questions: string): RetrievalSet {
  return { name: 'given files', corpus, questions, wanted: /\.jsonl(\.gz)?$/.test(corpus) ? STATUTES : {} };
}
