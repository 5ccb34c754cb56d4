import { readArguments } from '../server/cli/load.ts';
import type { Database } from '../server/database/database.ts';
import { searchKeywords } from '../server/knowledge/retrieval/keyword-leg.ts';
import { rankResults } from '../server/knowledge/retrieval/rank-results.ts';
import { search } from '../server/knowledge/retrieval/search.ts';
import { type Bench, type BenchResult, BenchUsageError, type Figure, percentile, progress } from './bench.ts';
import { type BenchQuestion, type CorpusParagraph, loadCorpus, loadQuestions } from './bench-data.ts';
import { type EngineChoice, type IndexedCorpus, indexCorpus, onEachEngine, parseEngines } from './bench-database.ts';
import { exactLookups } from './exact-lookups.ts';
import { type RankedQuestion, recallAt, reciprocalRankAt10 } from './retrieval-scores.ts';
import { type RetrievalSet, setOfFiles, standardSets } from './retrieval-sets.ts';
import { hashedLeg, randomLeg, type SimulatedLeg, signalLeg } from './simulated-vectors.ts';

const help = `Usage: npm run -s bench -- retrieval --corpus FILE --questions FILE
       npm run -s bench -- retrieval --data DIR [--set zhlaw|cmrc2018|musique|hotpot]

How well keyword search finds the paragraphs that answer a question, how often a reference to an article finds it, what
fusion with a bad or good vector leg makes of it, how long a search takes, what the index costs.

  --corpus FILE         law articles (.jsonl, .jsonl.gz), MuSiQue or HotpotQA passages, a SQuAD-like file
  --questions FILE      questions of the same data set
  --data DIR            a folder with the standard data sets; --set picks one of them (zhlaw)
  --engine NAME         pglite, postgresql or both (pglite)
  --database-url URL    a PostgreSQL with pgvector; a database of its own is made and dropped there
  --lookups N           references to try, for statutes (600)

R@k is the mean share of a question's gold paragraphs among the first k. With --check the statute corpus must reach R@5 .395,
R@10 .452, R@100 .65, exact look-ups .99, fusion with a bad vector leg no worse than keywords, p95 20 ms on PostgreSQL.`;

/** `bench -- retrieval`. */
export const retrievalBench: Bench = { help, run };

interface Options {
  set: RetrievalSet;
  engines: EngineChoice[];
  databaseUrl: string | undefined;
  lookups: number;
}

/** One engine with one corpus in it. */
interface Subject {
  database: Database;
  corpus: readonly CorpusParagraph[];
  questions: readonly BenchQuestion[];
  indexed: IndexedCorpus;
  keyById: ReadonlyMap<string, string>;
}

type Name = { name: string; value: number; unit?: string };

const TIMED_TOP = 5;
const WARM_UP = 30;

async function run(args: string[]): Promise<BenchResult> {
  const options = readOptions(args);
  const corpus = await loadCorpus(options.set.corpus);
  const questions = await loadQuestions(options.set.questions);
  const result: BenchResult = { figures: [], tables: [], notes: [`${options.set.name}: ${corpus.length} paragraphs`] };
  await onEachEngine(options, async (database, engine) => {
    const indexed = await indexCorpus(database, corpus);
    const keyById = new Map([...indexed.idByKey].map(([key, id]) => [id, key]));
    const values = await measure({ database, corpus, questions, indexed, keyById }, options);
    result.figures.push(...values.map((value) => toFigure(engine, value, options.set)));
  });
  return result;
}

function readOptions(args: string[]): Options {
  const { values } = readArguments({
    args,
    options: {
      corpus: { type: 'string' },
      questions: { type: 'string' },
      data: { type: 'string' },
      set: { type: 'string', default: 'zhlaw' },
      engine: { type: 'string', default: 'pglite' },
      'database-url': { type: 'string' },
      lookups: { type: 'string', default: '600' },
    },
  });
  const lookups = Number(values.lookups);
  if (!Number.isInteger(lookups) || lookups < 0) throw new BenchUsageError('--lookups is a number.');
  const databaseUrl = values['database-url'] ?? process.env['KNOWHY_TEST_DATABASE_URL'];
  return { set: readSet(values), engines: parseEngines(values.engine), databaseUrl, lookups };
}

function readSet(values: { corpus?: string; questions?: string; data?: string; set: string }): RetrievalSet {
  if (values.corpus !== undefined && values.questions !== undefined) return setOfFiles(values.corpus, values.questions);
  if (values.data === undefined) throw new BenchUsageError('give --corpus and --questions, or --data. See --help.');
  const set = standardSets(values.data).find(({ name }) => name === values.set);
  if (!set) throw new BenchUsageError('--set is zhlaw, cmrc2018, musique or hotpot.');
  return set;
}

function toFigure(engine: EngineChoice, { name, value, unit = '' }: Name, set: RetrievalSet): Figure {
  const wanted = set.wanted[name] ?? set.wanted[`${name} ${engine}`];
  return { name: `${set.name} ${engine}: ${name}`, value, unit, ...(wanted ? { wanted } : {}) };
}

async function measure(subject: Subject, options: Options): Promise<Name[]> {
  progress('searching');
  const ranked = await rankQuestions(subject);
  const times = await timeQuestions(subject);
  const lookups = await shareOfExactLookups(subject, options.lookups);
  return [
    ...[1, 5, 10, 100].map((k) => ({ name: `R@${k}`, value: recallAt(ranked, k) })),
    { name: 'MRR@10', value: reciprocalRankAt10(ranked) },
    ...(lookups === null ? [] : [{ name: 'exact look-ups first', value: lookups }]),
    ...(await fusionFigures(subject, ranked)),
    { name: 'p50', value: percentile(times, 0.5), unit: 'ms' },
    { name: 'p95', value: percentile(times, 0.95), unit: 'ms' },
    { name: 'index', value: subject.indexed.seconds, unit: 's' },
    { name: 'peak memory', value: process.resourceUsage().maxRSS / 1024, unit: 'MB' },
    { name: 'database', value: await databaseMegabytes(subject.database), unit: 'MB' },
  ];
}

async function find(subject: Subject, query: string, topN: number): Promise<string[]> {
  const { hits } = await search(
    { database: subject.database, embedder: null },
    {
      query,
      datasetIds: [subject.indexed.datasetId],
      topN,
      mode: 'keywords',
      similarity: 0,
      signal: new AbortController().signal,
    },
  );
  return hits.map((hit) => subject.keyById.get(hit.paragraphId) ?? '');
}

async function rankQuestions(subject: Subject): Promise<RankedQuestion[]> {
  const ranked: RankedQuestion[] = [];
  for (const { question, gold } of subject.questions) ranked.push({ gold, found: await find(subject, question, 100) });
  return ranked;
}

async function timeQuestions(subject: Subject): Promise<number[]> {
  const times: number[] = [];
  for (const { question } of [...subject.questions.slice(0, WARM_UP), ...subject.questions]) {
    const startedMs = performance.now();
    await find(subject, question, TIMED_TOP);
    times.push(performance.now() - startedMs);
  }
  return times.slice(WARM_UP);
}

/** Null for a corpus without articles. */
async function shareOfExactLookups(subject: Subject, count: number): Promise<number | null> {
  const lookups = exactLookups(subject.corpus, count);
  if (lookups.length === 0) return null;
  let first = 0;
  for (const { query, wanted } of lookups) {
    const found = await find(subject, query, wanted.size);
    if (found.length === wanted.size && found.every((key) => wanted.has(key))) first += 1;
    else progress(`not first: ${query}`);
  }
  return first / lookups.length;
}

/** R@5 of fusion over R@5 of keywords alone, with legs that are simulated on this corpus. */
async function fusionFigures(subject: Subject, keywords: readonly RankedQuestion[]): Promise<Name[]> {
  const legs: [string, SimulatedLeg][] = [
    ['random', randomLeg(subject.corpus)],
    ['hashed', hashedLeg(subject.corpus)],
    ['middling', signalLeg(subject.corpus, 2.5)],
    ['strong', signalLeg(subject.corpus, 4.3)],
  ];
  const alone = recallAt(keywords, 5);
  const names: Name[] = [];
  for (const [name, leg] of legs) {
    const { vector, fused } = await fuseQuestions(subject, leg);
    names.push({ name: `R@5 of a ${name} vector leg`, value: recallAt(vector, 5) });
    names.push({ name: `R@5 with a ${name} vector leg, over keywords alone`, value: recallAt(fused, 5) / alone });
  }
  return names;
}

async function fuseQuestions(subject: Subject, leg: SimulatedLeg) {
  const vector: RankedQuestion[] = [];
  const fused: RankedQuestion[] = [];
  for (const { question, gold } of subject.questions) {
    const near = leg({ text: question, gold });
    vector.push({ gold, found: near.map((hit) => hit.paragraphId) });
    const hits = near.map((hit) => ({ ...hit, paragraphId: subject.indexed.idByKey.get(hit.paragraphId) ?? '' }));
    const keyword = await searchKeywords(subject.database, {
      query: question,
      datasetIds: [subject.indexed.datasetId],
      excludeParagraphIds: [],
      limit: 100,
    });
    const ranked = rankResults({ keyword, vector: hits, topN: 10 });
    fused.push({ gold, found: ranked.map((hit) => subject.keyById.get(hit.paragraphId) ?? '') });
  }
  return { vector, fused };
}

async function databaseMegabytes(database: Database): Promise<number> {
  const [row] = await database.query<{ size: number }>('select pg_database_size(current_database()) as size');
  return (row?.size ?? 0) / 2 ** 20;
}
