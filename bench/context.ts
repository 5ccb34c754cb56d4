import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { LOCAL_USER_ID } from '../server/accounts/local-user.ts';
import { ApplicationStore } from '../server/applications/application-store.ts';
import { streamAnswer } from '../server/chat/agent/answer.ts';
import { summaryMessage } from '../server/chat/agent/prompts.ts';
import { ChatStore } from '../server/chat/chat-store.ts';
import { ContextStore } from '../server/chat/context/context-store.ts';
import { type LoadedContext, loadContext } from '../server/chat/context/load-context.ts';
import { summaryAllowance } from '../server/chat/context/window.ts';
import { openChat } from '../server/chat/open-chat.ts';
import { readArguments } from '../server/cli/load.ts';
import { loadConfig } from '../server/config.ts';
import type { Database } from '../server/database/database.ts';
import { contentWords } from '../server/knowledge/indexing/tokens.ts';
import type { ChatMessage, Round } from '../server/models/chat-model.ts';
import { OfflineChatModel } from '../server/models/offline/offline-chat-model.ts';
import { countTokens } from '../server/models/tokens.ts';
import { type Bench, type BenchResult, BenchUsageError, type Figure, percentile, progress } from './bench.ts';
import { onEachEngine, parseEngines } from './bench-database.ts';
import { type ContextCheck, checkContext } from './context-check.ts';
import { type Language, type Phrasings, type PlantedConversation, plantConversation } from './planted-conversations.ts';

const help = `Usage: npm run -s bench -- context [--seed N] [--phrasings SET] [--engine NAME]

What a conversation of 100,000 tokens leaves in the prompt of its next question with the offline model: 60 facts are
planted in a Chinese and in an English one (numbers, dates, names, open points, cited sources; 14 corrected later, 4 of
those twice), stored round by round, compacted before each round as before any question.

  --seed N              another conversation (1)
  --phrasings SET       tuning, held-out or both (both): held-out ones were never looked at while tuning
  --show                print the last summaries and what is missing
  --engine NAME         pglite, postgresql or both (pglite)
  --database-url URL    a PostgreSQL with pgvector; a database of its own is made and dropped there

With --check: at least 95 % of the latest facts in the prompt, no superseded value given as current, the summary within its
allowance, summary and recent rounds together at most 10 % of the history.`;

/** `bench -- context`. */
export const contextBench: Bench = { help, run };

interface Options {
  seed: number;
  phrasings: Phrasings[];
  show: boolean;
}

/** Tokens of the history and of its two parts in the prompt; `loadMs`: reading and compacting, for each question. */
interface Measured {
  historyTokens: number;
  summaryTokens: number;
  recentTokens: number;
  allowance: number;
  merges: number;
  loadMs: number[];
  summary: string;
  check: ContextCheck;
}

async function run(args: string[]): Promise<BenchResult> {
  const { values } = readArguments({
    args,
    options: {
      seed: { type: 'string', default: '1' },
      phrasings: { type: 'string', default: 'both' },
      show: { type: 'boolean', default: false },
      engine: { type: 'string', default: 'pglite' },
      'database-url': { type: 'string' },
    },
  });
  if (!/^\d{1,9}$/.test(values.seed)) throw new BenchUsageError('--seed needs a whole number.');
  const options = { seed: Number(values.seed), phrasings: parsePhrasings(values.phrasings), show: values.show };
  const where = {
    engines: parseEngines(values.engine),
    databaseUrl: values['database-url'] ?? process.env['KNOWHY_TEST_DATABASE_URL'],
  };
  const result: BenchResult = { figures: [], tables: [], notes: [] };
  await onEachEngine(where, (database, engine) => measureAll(database, { engine, options, result }));
  return result;
}

function parsePhrasings(text: string): Phrasings[] {
  if (text === 'both') return ['tuning', 'held-out'];
  if (text === 'tuning' || text === 'held-out') return [text];
  throw new BenchUsageError('--phrasings is tuning, held-out or both.');
}

async function measureAll(
  database: Database,
  { engine, options, result }: { engine: string; options: Options; result: BenchResult },
): Promise<void> {
  for (const phrasings of options.phrasings) {
    for (const language of ['zh', 'en'] as const) {
      const name = `${engine} ${language} ${phrasings}`;
      const conversation = plantConversation({ language, phrasings, seed: options.seed });
      progress(`${name}: ${conversation.rounds.length} rounds, ${conversation.tokens} tokens …`);
      const measured = await measure(database, conversation, language);
      result.figures.push(...figuresOf(name, measured));
      if (options.show) result.notes.push(...shown(name, measured));
    }
  }
}

async function measure(database: Database, conversation: PlantedConversation, language: Language): Promise<Measured> {
  const { config } = loadConfig(tmpdir(), {});
  const limits = { recentTokens: config.context.recentTokens, contextTokens: config.chat.contextTokens };
  const model = new OfflineChatModel(contentWords);
  const store = new ChatStore(database);
  const ports = { store, contexts: new ContextStore(database), model, log: pino({ level: 'silent' }) };
  const chat = await openBenchChat(database, store);
  const { signal } = new AbortController();
  const loadMs: number[] = [];
  const load = async () => {
    const startedMs = performance.now();
    const loaded = await loadContext(ports, { ...chat, limits, fence: null, onCompacting: () => {}, signal });
    loadMs.push(performance.now() - startedMs);
    return loaded;
  };
  for (const round of conversation.rounds) {
    await load();
    await storeRound(store, chat.chatId, round);
  }
  const context = await load();
  const { summary, recent } = await nextPrompt(model, { context, language, config, signal });
  return {
    historyTokens: conversation.tokens,
    summaryTokens: countTokens(summary),
    recentTokens: recent.reduce((sum, message) => sum + countTokens(message.content), 0),
    allowance: summaryAllowance(limits.recentTokens),
    merges: context.info.revision,
    loadMs,
    summary,
    check: checkContext(conversation.facts, { summary, recent }),
  };
}

async function openBenchChat(
  database: Database,
  store: ChatStore,
): Promise<{ chatId: string; dialogueNumber: number }> {
  const applications = new ApplicationStore(database);
  const applicationId = await applications.ensureBuiltIn({ kind: 'all', name: 'bench' });
  const chatId = await openChat({ store, applications }, { applicationId, clientId: LOCAL_USER_ID });
  return { chatId, dialogueNumber: (await applications.find(applicationId))?.dialogueNumber ?? 0 };
}

async function storeRound(store: ChatStore, chatId: string, { question, answer }: Round): Promise<void> {
  const recordId = await store.insertRecord({ chatId, question, questionTokens: countTokens(question), fence: null });
  if (recordId === null) throw new Error('A round of the bench was not stored.');
  const answerTokens = countTokens(answer);
  await store.finishRecord(
    recordId,
    {
      state: 'done',
      answerText: answer,
      reasoningContent: '',
      answerTextTokens: answerTokens,
      messageTokens: 0,
      answerTokens,
      runTimeSeconds: 0,
      paddingProblemText: null,
      details: {},
      citations: [],
      agentTrace: [],
      stopReason: null,
      contextInfo: null,
    },
    { fence: null, lastEvents: { firstNumber: 1, events: [] } },
  );
}

const NEXT_QUESTION = { zh: '请总结一下目前的情况。', en: 'Where do we stand?' } as const;

/** The request that really goes out, taken apart again: what stands before the question is summary and recent rounds. */
async function nextPrompt(
  model: OfflineChatModel,
  {
    context,
    language,
    config,
    signal,
  }: {
    context: LoadedContext;
    language: Language;
    config: ReturnType<typeof loadConfig>['config'];
    signal: AbortSignal;
  },
): Promise<{ summary: string; recent: ChatMessage[] }> {
  const question = NEXT_QUESTION[language];
  const labelled = context.summary === '' ? null : summaryMessage(context.summary);
  const { messages } = await streamAnswer(
    model,
    {
      question,
      standaloneQuestion: question,
      gathered: { evidence: [], trace: [], stopReason: 'no_datasets', gap: question },
      summary: labelled,
      rounds: context.rounds,
      settings: { system: '', prompt: '' },
      contextTokens: config.chat.contextTokens,
      maxTokens: config.chat.maxTokens,
      signal,
    },
    () => {},
  );
  const history = messages.slice(1, -1);
  const isCarried = labelled !== null && history[0]?.content === labelled.content;
  return { summary: isCarried ? context.summary : '', recent: isCarried ? history.slice(1) : history };
}

function figuresOf(name: string, measured: Measured): Figure[] {
  const { check, historyTokens, summaryTokens, recentTokens, allowance, merges, loadMs } = measured;
  const figure = (what: string, value: number, rest: Partial<Figure> = {}): Figure => ({
    name: `${name}: ${what}`,
    value,
    unit: '',
    ...rest,
  });
  return [
    figure('latest facts in the prompt', (100 * check.found) / check.total, { unit: '%', wanted: { min: 95 } }),
    figure('superseded values as current', check.stale.length, { wanted: { max: 0 } }),
    figure('superseded values marked as perhaps corrected', check.marked.length),
    figure('latest facts marked so without need', check.doubted.length),
    figure('superseded values that a recent round corrects', check.corrected.length),
    figure('summary', summaryTokens, { unit: 'tokens', wanted: { min: 1, max: allowance } }),
    figure('recent rounds', recentTokens, { unit: 'tokens' }),
    figure('summary and recent rounds', (100 * (summaryTokens + recentTokens)) / historyTokens, {
      unit: '% of history',
      wanted: { max: 10 },
    }),
    figure('history', historyTokens, { unit: 'tokens', wanted: { min: 100_000 } }),
    figure('merges', merges),
    figure('reading and compacting p95', percentile(loadMs, 0.95), { unit: 'ms' }),
  ];
}

function shown(name: string, { summary, check }: Measured): string[] {
  return [
    `${name}, summary:\n${summary}`,
    ...check.missing.map((fact) => `missing ${fact}`),
    ...check.stale.map((line) => `stale ${line}`),
  ];
}
