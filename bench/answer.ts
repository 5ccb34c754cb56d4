import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { LOCAL_USER_ID } from '../server/accounts/local-user.ts';
import { ApplicationStore } from '../server/applications/application-store.ts';
import { type AskPorts, acceptQuestion } from '../server/chat/ask-question.ts';
import { openChat } from '../server/chat/open-chat.ts';
import { readArguments } from '../server/cli/load.ts';
import { loadConfig } from '../server/config.ts';
import type { Database } from '../server/database/database.ts';
import { Knowledge } from '../server/knowledge/knowledge.ts';
import { createAskPorts } from '../server/main.ts';
import { UniChatClient } from '../server/models/uni-chat-client.ts';
import { packageRoot } from '../server/observability/package-root.ts';
import { startScriptedModelServer } from '../server/testing/scripted-model-server.ts';
import { reply } from '../server/testing/scripted-steps.ts';
import { type Bench, type BenchResult, BenchUsageError, percentile, progress } from './bench.ts';
import { onEachEngine, parseEngines } from './bench-database.ts';
import { timedDatabase, timedModel, WaitClock } from './timed-ports.ts';

const help = `Usage: npm run -s bench -- answer [--docs FOLDER] [--count N] [--engine NAME]

The program's own time for a question, everything outside waits for database and model, until the first token: over N
questions (200) against a scripted model server, two rounds each. Peak memory after indexing the folder is reported too.

  --docs FOLDER         the folder to index (samples/zhlaw)
  --count N             questions
  --engine NAME         pglite, postgresql or both (pglite)
  --database-url URL    a PostgreSQL with pgvector

With --check: own time p95 at most 10 ms, peak memory under 1024 MB.`;

/** `bench -- answer`. */
export const answerBench: Bench = { help, run };

const QUESTIONS = [
  '行政复议一般申请期限是多久？因不可抗力耽误了申请期限怎么办？',
  '仲裁裁决书可以申请撤销吗？条件是什么？',
  '劳动争议申请仲裁的时效期间为多久？',
  '行政诉讼的起诉期限是多久？被告应当在多少日内提交答辩状？',
  '民事诉讼一审普通程序的审理期限是多久？',
];
/** The first answers load tokenizer and dictionary; a server that runs has them. */
const WARM_UP = 10;

interface Sample {
  ownMs: number;
  totalMs: number;
}

async function run(args: string[]): Promise<BenchResult> {
  const { values } = readArguments({
    args,
    options: {
      docs: { type: 'string', default: join(packageRoot(), 'samples', 'zhlaw') },
      data: { type: 'string' },
      count: { type: 'string', default: '200' },
      engine: { type: 'string', default: 'pglite' },
      'database-url': { type: 'string' },
    },
  });
  if (!/^[1-9]\d{0,4}$/.test(values.count)) throw new BenchUsageError('--count needs a whole number from 1.');
  const docs = values.data === undefined ? values.docs : join(values.data, 'zhlaw', 'md');
  const result: BenchResult = { figures: [], tables: [], notes: [] };
  const where = {
    engines: parseEngines(values.engine),
    databaseUrl: values['database-url'] ?? process.env['KNOWHY_TEST_DATABASE_URL'],
  };
  await onEachEngine(where, async (database, engine) => {
    const samples = await measure(database, { docs, count: Number(values.count) });
    const own = samples.map((sample) => sample.ownMs);
    const total = samples.map((sample) => sample.totalMs);
    result.figures.push(
      { name: `${engine}: questions`, value: samples.length, unit: '' },
      { name: `${engine}: own time to first token, p50`, value: percentile(own, 0.5), unit: 'ms' },
      {
        name: `${engine}: own time to first token, p95`,
        value: percentile(own, 0.95),
        unit: 'ms',
        wanted: { max: 10 },
      },
      { name: `${engine}: whole time to first token, p95`, value: percentile(total, 0.95), unit: 'ms' },
    );
  });
  const peakMb = process.resourceUsage().maxRSS / 1024;
  result.figures.push({ name: 'peak memory of the process', value: peakMb, unit: 'MB', wanted: { max: 1024 } });
  return result;
}

async function measure(database: Database, { docs, count }: { docs: string; count: number }): Promise<Sample[]> {
  const server = await startScriptedModelServer({
    chat: ({ body }) => {
      if (body['stream'] === true) return reply('申请期限是六十日 [1]。');
      const searchedTwice = JSON.stringify(body['messages']).includes('起算 规定');
      return reply(JSON.stringify({ sufficient: searchedTwice, missing: '起算', queries: ['申请期限 起算 规定'] }));
    },
  });
  try {
    const clock = new WaitClock();
    const model = timedModel(new UniChatClient({ baseUrl: server.baseUrl, apiKey: 'none', model: 'scripted' }), clock);
    const { ports, applicationId } = await prepare(database, { docs, clock, model });
    const samples: Sample[] = [];
    for (let index = 0; index < count + WARM_UP; index += 1) {
      const chatId = await openChat(ports, { applicationId, clientId: LOCAL_USER_ID });
      const message = `${QUESTIONS[index % QUESTIONS.length]}（${index}）`;
      const sample = await askOnce(ports, { chatId, message, clock });
      if (index >= WARM_UP) samples.push(sample);
    }
    return samples;
  } finally {
    await server.close();
  }
}

async function prepare(
  database: Database,
  { docs, clock, model }: { docs: string; clock: WaitClock; model: AskPorts['models']['answer'] },
): Promise<{ ports: AskPorts; applicationId: string }> {
  const timed = timedDatabase(database, clock);
  const log = pino({ level: 'silent' });
  const knowledge = new Knowledge({ database: timed, embedder: null, log });
  const applications = new ApplicationStore(timed);
  const { signal } = new AbortController();
  progress(`indexing ${docs} on ${database.engine} …`);
  const { datasetId, paragraphs } = await knowledge.indexFolder(docs, { onProgress: () => {}, signal });
  progress(`${paragraphs} paragraphs; asking …`);
  const applicationId = await applications.ensureBuiltIn({ kind: 'all', name: 'bench' });
  await applications.bindDataset(applicationId, datasetId);
  const { config } = loadConfig(tmpdir(), {});
  const models = { answer: model, auxiliary: model };
  const ports = createAskPorts({ config, database: timed, models, knowledge, log, shutdown: signal });
  return { ports, applicationId };
}

/** From the question's arrival to its first token; the waits until then are subtracted. */
async function askOnce(
  ports: AskPorts,
  { chatId, message, clock }: { chatId: string; message: string; clock: WaitClock },
): Promise<Sample> {
  const startedMs = performance.now();
  const waitedBefore = clock.waitedMs;
  let sample: Sample | null = null;
  const accepted = await acceptQuestion(ports, { chatId, clientId: LOCAL_USER_ID, message, reChat: false });
  await accepted.run((event) => {
    if (sample !== null || event.kind !== 'answer-delta') return;
    const totalMs = performance.now() - startedMs;
    sample = { totalMs, ownMs: totalMs - (clock.waitedMs - waitedBefore) };
  });
  if (sample === null) throw new Error('A question of the bench got no answer.');
  return sample;
}
