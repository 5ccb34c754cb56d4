import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { LOCAL_USER_ID } from '../../accounts/local-user.ts';
import { type AskPorts, acceptQuestion, findOwnChat } from '../../chat/ask-question.ts';
import { compactChat } from '../../chat/compact-chat.ts';
import { followAnswer } from '../../chat/follow-answer.ts';
import { openChat } from '../../chat/open-chat.ts';
import { loadConfig } from '../../config.ts';
import { openDatabase } from '../../database/open-database.ts';
import { compose, type Services } from '../../main.ts';
import { packageRoot } from '../../observability/package-root.ts';
import { storeRounds } from '../stored-rounds.ts';
import { checkConversation } from './check-conversation.ts';
import { CountedAwaits, countedDatabase, countedModel } from './counted-awaits.ts';
import { type ChildLine, type CrashWork, childOrder, type PlantedChat } from './crash-protocol.ts';
import { MARKED_ANSWER, MarkingModel, markedQuestion } from './marking-model.ts';

/*
 * The program that is killed: the real composition over a database and a model that count their awaits. It is started
 * by run-crashes.ts, says what it does on standard output, and at the end of its order closes as a server does.
 */

/** Enough for three batches over a limit of 512 tokens. */
const PLANTED_ROUNDS = 36;
/** A lease lives for 8 s; nobody may wait longer for it. */
const FREE_WITHIN_MS = 10_000;

const order = childOrder.parse(JSON.parse(process.argv[2] ?? ''));
const awaits = new CountedAwaits(order.killAt);
const services = await open();
const ports = markedPorts(services);
for (const planted of order.verify) await verify(planted);
for (const kind of order.work) await work(kind);
await services.close();

function say(line: ChildLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function open(): Promise<Services> {
  const { location } = order;
  const where = 'url' in location ? { DATABASE_URL: location.url } : { KB_DATA_DIR: location.dataDir };
  const { config } = loadConfig(tmpdir(), { ...where, KB_CONTEXT_RECENT_TOKENS: '512' });
  return compose({
    config,
    log: pino({ level: 'silent' }),
    onLost: (error) => {
      throw error;
    },
    openDatabase: async (...given) => countedDatabase(await openDatabase(...given), awaits),
  });
}

function markedPorts({ ask }: Services): AskPorts {
  const model = countedModel(new MarkingModel(), awaits);
  const { contexts } = ask;
  const saveMerge = contexts.saveMerge.bind(contexts);
  contexts.saveMerge = async (merge) => {
    const stored = await saveMerge(merge);
    if (stored) say({ say: 'merged', revision: stored.revision });
    return stored;
  };
  return { ...ask, models: { answer: model, auxiliary: model } };
}

/** Everything must be whole, and the conversation free; then it goes on, and must still be whole. */
async function verify(planted: PlantedChat): Promise<void> {
  const problems = await checkConversation(services.database, planted);
  if (planted.recordId !== null) problems.push(...(await followProblems(planted.chatId, planted.recordId)));
  const next = await answerNext(planted);
  if (next !== null) problems.push(next);
  problems.push(...(await checkConversation(services.database, planted)).map((problem) => `then: ${problem}`));
  say({ say: 'verified', chatId: planted.chatId, problems });
}

/** Whoever reads on in the stream of the answer that was killed comes to an end. */
async function followProblems(chatId: string, recordId: string): Promise<string[]> {
  const kinds: string[] = [];
  await followAnswer(
    ports,
    { chatId, recordId, after: 0 },
    {
      deliver: ({ event }) => {
        kinds.push(event.kind);
      },
      signal: AbortSignal.timeout(FREE_WITHIN_MS),
    },
  );
  return /^answer-(?:end|failed)$/.test(kinds.at(-1) ?? '')
    ? []
    : [`the stream that was killed ends as ${kinds.at(-1)}`];
}

async function answerNext({ chatId, rounds }: PlantedChat): Promise<string | null> {
  const waitedMs = await untilFree(chatId);
  if (waitedMs > FREE_WITHIN_MS) return `the conversation was held for ${Math.round(waitedMs)} ms more`;
  const recordId = await ask(chatId, rounds + 2);
  const record = await ports.store.findRecord(chatId, recordId);
  return record?.state === 'done' && record.answer_text === MARKED_ANSWER
    ? null
    : `the next answer is ${record?.state}`;
}

async function untilFree(chatId: string): Promise<number> {
  const startedMs = performance.now();
  while (performance.now() - startedMs <= FREE_WITHIN_MS && (await ports.lock.holderOf(chatId)) !== null) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return performance.now() - startedMs;
}

async function ask(chatId: string, n: number): Promise<string> {
  const question = { chatId, clientId: LOCAL_USER_ID, message: markedQuestion(n), reChat: false };
  const accepted = await acceptQuestion(ports, question);
  if (awaits.isArmed) say({ say: 'accepted', recordId: accepted.recordId });
  await accepted.run(() => undefined);
  return accepted.recordId;
}

async function work(kind: CrashWork): Promise<void> {
  // Files that did not change are skipped, so that only the first process indexes.
  const handbook = join(packageRoot(), 'samples', 'handbook');
  const run = { onProgress: () => undefined, signal: services.shutdown };
  const { applicationId } = await services.indexFolder(handbook, run);
  const chatId = await openChat(ports, { applicationId, clientId: LOCAL_USER_ID });
  await storeRounds(
    services.database,
    chatId,
    Array.from({ length: PLANTED_ROUNDS }, (_, place) => ({
      question: markedQuestion(place + 1),
      answer: MARKED_ANSWER,
    })),
  );
  say({ say: 'planted', chatId, rounds: PLANTED_ROUNDS });
  awaits.count = 0;
  awaits.isArmed = true;
  if (kind === 'answer') {
    await ask(chatId, PLANTED_ROUNDS + 1);
    say({ say: 'ended' });
  } else {
    const found = await findOwnChat(ports, { chatId, clientId: LOCAL_USER_ID });
    await compactChat(ports, { chatId, application: found.application });
  }
  awaits.isArmed = false;
  say({ say: 'done', work: kind, awaits: awaits.count });
}
