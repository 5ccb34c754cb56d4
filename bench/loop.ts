import { join } from 'node:path';
import { costedPassages } from '../server/chat/agent/answer.ts';
import { verifyEvidence } from '../server/chat/agent/assess.ts';
import { MAX_EVIDENCE_PARAGRAPHS } from '../server/chat/agent/evidence.ts';
import { type Gathered, gatherEvidence } from '../server/chat/agent/gather-evidence.ts';
import { readArguments } from '../server/cli/load.ts';
import type { Database } from '../server/database/database.ts';
import { type SearchHit, search } from '../server/knowledge/retrieval/search.ts';
import type { ChatModel } from '../server/models/chat-model.ts';
import { UniChatClient } from '../server/models/uni-chat-client.ts';
import { startScriptedModelServer } from '../server/testing/scripted-model-server.ts';
import { type Bench, type BenchResult, BenchUsageError, type Figure, mean, percentile, progress } from './bench.ts';
import { type BenchQuestion, loadCorpus, loadQuestions } from './bench-data.ts';
import { type EngineChoice, indexCorpus, onEachEngine, parseEngines } from './bench-database.ts';
import { scriptedJudge } from './scripted-judge.ts';

const help = `Usage: npm run -s bench -- loop --questions FILE --corpus FILE [--k N] [--rounds N]
       npm run -s bench -- loop --data DIR [--set musique|compound2]

How often the evidence loop gathers ALL gold paragraphs, against one search with as many paragraphs. The judge is
scripted and speaks the model's protocol over HTTP: it asks the next parts of a question whose answers it lacks, at
most two a round, each only once what it depends on is in evidence.

  --questions FILE      questions with parts: MuSiQue's question_decomposition, or zhlaw's compound2.jsonl
  --corpus FILE         the paragraphs to search; by default those of the standard data set beside it
  --data DIR            a folder with multihop-en/ and zhlaw/; --set picks one of them (musique)
  --k N                 paragraphs a query (5)
  --rounds N            rounds at most (3)
  --engine NAME         pglite, postgresql or both (pglite)
  --database-url URL    a PostgreSQL with pgvector; a database of its own is made and dropped there

With --check: MuSiQue at 5 and 3 must reach 75 % and three times the single search, compound2 at 10 100 %.`;

/** `bench -- loop`. */
export const loopBench: Bench = { help, run };

interface Options {
  questions: string;
  corpus: string;
  k: number;
  rounds: number;
  engines: EngineChoice[];
  databaseUrl: string | undefined;
}

interface LoopOutcome {
  question: BenchQuestion;
  gathered: Gathered;
  loopFound: boolean;
  singleFound: boolean;
}

async function run(args: string[]): Promise<BenchResult> {
  const options = readOptions(args);
  const questions = await loadQuestions(options.questions);
  if (questions.some((question) => question.steps.length === 0)) {
    throw new BenchUsageError(`${options.questions} has questions without parts; the loop needs them.`);
  }
  const result: BenchResult = { figures: [], tables: [], notes: [] };
  await onEachEngine(options, async (database, engine) => {
    addOutcomes(result, { engine, outcomes: await runQuestions(database, questions, options), options });
  });
  return result;
}

function readOptions(args: string[]): Options {
  const { values } = readArguments({
    args,
    options: {
      questions: { type: 'string' },
      corpus: { type: 'string' },
      data: { type: 'string' },
      set: { type: 'string', default: 'musique' },
      k: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      engine: { type: 'string', default: 'pglite' },
      'database-url': { type: 'string' },
    },
  });
  const standard = values.data === undefined ? null : standardFiles(values.data, values.set);
  const questions = values.questions ?? standard?.questions;
  const corpus = values.corpus ?? standard?.corpus;
  if (!questions || !corpus) throw new BenchUsageError('give --questions and --corpus, or --data.');
  return {
    questions,
    corpus,
    k: wholeNumber('--k', values.k ?? String(standard?.k ?? 5)),
    rounds: wholeNumber('--rounds', values.rounds),
    engines: parseEngines(values.engine),
    databaseUrl: values['database-url'] ?? process.env['KNOWHY_TEST_DATABASE_URL'],
  };
}

function standardFiles(data: string, set: string): { questions: string; corpus: string; k: number } {
  if (set === 'musique') {
    const folder = join(data, 'multihop-en');
    return {
      questions: join(folder, 'musique_train100.json'),
      corpus: join(folder, 'musique_train100_corpus.json'),
      k: 5,
    };
  }
  if (set === 'compound2') {
    return { questions: join(data, 'zhlaw', 'compound2.jsonl'), corpus: join(data, 'zhlaw', 'corpus.jsonl.gz'), k: 10 };
  }
  throw new BenchUsageError('--set is musique or compound2.');
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new BenchUsageError(`${name} needs a whole number from 1.`);
  return Number(text);
}

async function runQuestions(
  database: Database,
  questions: readonly BenchQuestion[],
  options: Options,
): Promise<LoopOutcome[]> {
  const corpus = await loadCorpus(options.corpus);
  progress(`indexing ${corpus.length} paragraphs on ${database.engine} …`);
  const { datasetId, idByKey } = await indexCorpus(database, corpus);
  const judge = scriptedJudge(questions, new Map(corpus.map((paragraph) => [paragraph.key, paragraph])));
  const server = await startScriptedModelServer({ chat: judge });
  const model = new UniChatClient({ baseUrl: server.baseUrl, apiKey: 'none', model: 'scripted-judge' });
  const find = async (query: string, topN: number): Promise<SearchHit[]> => {
    const signal = new AbortController().signal;
    const request = { query, datasetIds: [datasetId], topN, mode: 'keywords', similarity: 0, signal } as const;
    return (await search({ database, embedder: null }, request)).hits;
  };
  try {
    const outcomes: LoopOutcome[] = [];
    for (const question of questions) {
      const gathered = await gather(question.question, { model, find, options });
      const gold = question.gold.map((key) => idByKey.get(key) ?? '');
      const single = await find(question.question, Math.max(1, gathered.evidence.length));
      outcomes.push({
        question,
        gathered,
        loopFound: holdsAll(gathered.evidence, gold),
        singleFound: holdsAll(single, gold),
      });
    }
    return outcomes;
  } finally {
    await server.close();
  }
}

function holdsAll(hits: readonly SearchHit[] | Gathered['evidence'], gold: readonly string[]): boolean {
  const found = new Set(hits.map((hit) => hit.paragraphId));
  return gold.every((id) => found.has(id));
}

/** The product's loop and verifier; only the judge behind the protocol is scripted. */
function gather(
  question: string,
  {
    model,
    find,
    options,
  }: { model: ChatModel; find(query: string, topN: number): Promise<SearchHit[]>; options: Options },
): Promise<Gathered> {
  const { signal } = new AbortController();
  return gatherEvidence(
    {
      question,
      hasDatasets: true,
      maxRounds: options.rounds,
      limits: { maxTokens: 24_000, maxParagraphs: MAX_EVIDENCE_PARAGRAPHS },
      signal,
    },
    {
      search: (query) => find(query, options.k),
      assess: async ({ evidence, searchedQueries }) => {
        const passages = costedPassages(evidence);
        const { verdict } = await verifyEvidence(model, {
          question,
          passages,
          searchedQueries,
          contextTokens: 64_000,
          signal,
        });
        return verdict;
      },
      onRound: () => {},
      emit: () => {},
    },
  );
}

function addOutcomes(
  result: BenchResult,
  { engine, outcomes, options }: { engine: EngineChoice; outcomes: LoopOutcome[]; options: Options },
): void {
  const loop = mean(outcomes.map((outcome) => Number(outcome.loopFound)));
  const single = mean(outcomes.map((outcome) => Number(outcome.singleFound)));
  const ratio = single === 0 ? Number.POSITIVE_INFINITY : loop / single;
  const paragraphs = outcomes.map((outcome) => outcome.gathered.evidence.length);
  const wanted = wantedOf(options);
  const figures: Figure[] = [
    { name: `${engine}: questions`, value: outcomes.length, unit: '' },
    { name: `${engine}: all gold in evidence, loop`, value: loop, unit: '', ...wanted.loop },
    { name: `${engine}: all gold in evidence, one search of as many`, value: single, unit: '' },
    { name: `${engine}: loop over one search`, value: ratio, unit: '×', ...wanted.ratio },
    { name: `${engine}: paragraphs in evidence, mean`, value: mean(paragraphs), unit: '' },
    { name: `${engine}: paragraphs in evidence, p95`, value: percentile(paragraphs, 0.95), unit: '' },
  ];
  result.figures.push(...figures);
  const reasons = new Map<string, number>();
  for (const { gathered } of outcomes) reasons.set(gathered.stopReason, (reasons.get(gathered.stopReason) ?? 0) + 1);
  result.tables.push({
    title: `${engine}: why the loop stopped`,
    rows: [['reason', 'questions'], ...[...reasons].map(([reason, count]) => [reason, String(count)])],
  });
}

/** What is asked of the standard sets; other files are only measured. */
function wantedOf({ questions, k, rounds }: Options): { loop: Pick<Figure, 'wanted'>; ratio: Pick<Figure, 'wanted'> } {
  if (questions.endsWith('musique_train100.json') && k === 5 && rounds === 3) {
    return { loop: { wanted: { min: 0.75 } }, ratio: { wanted: { min: 3 } } };
  }
  if (questions.endsWith('compound2.jsonl') && k === 10) return { loop: { wanted: { min: 1 } }, ratio: {} };
  return { loop: {}, ratio: {} };
}
