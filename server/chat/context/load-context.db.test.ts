import { pino } from 'pino';
import { beforeAll, expect, it } from 'vitest';
import { LOCAL_USER_ID } from '../../accounts/local-user.ts';
import { ApplicationStore } from '../../applications/application-store.ts';
import type { Database } from '../../database/database.ts';
import type { ChatModel, ModelReply, ModelRequest } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { countTokens } from '../../models/tokens.ts';
import { describeOnDatabases } from '../../testing/databases.ts';
import { startRecord, storeRound } from '../../testing/stored-rounds.ts';
import { ChatStore } from '../chat-store.ts';
import { ContextStore } from './context-store.ts';
import { type ContextRequest, loadContext } from './load-context.ts';

/** Summarises by naming the questions it was given after the old summary; or as `answer` says. */
class FakeSummariser implements ChatModel {
  readonly name = 'fake';
  readonly offline = false;
  readonly requests: ModelRequest[] = [];
  answer: (request: ModelRequest, call: number) => Partial<ModelReply> | Promise<Partial<ModelReply>> = ({ task }) => {
    if (task.kind !== 'summarise') throw new Error('not a summary');
    return { content: `${task.summary} ${task.rounds.map(({ question }) => question).join(' ')}`.trim() };
  };

  async generate(request: ModelRequest): Promise<ModelReply> {
    this.requests.push(request);
    const said = await this.answer(request, this.requests.length);
    const usage = { promptTokens: 11, completionTokens: 3 };
    return { content: '', reasoningContent: '', finishReason: 'stop', usage, ...said };
  }

  async streamOpenAi(): Promise<ModelReply> {
    throw new Error('a summary is not streamed');
  }
}

const refused = (code: 'unavailable' | 'aborted') => new ModelError({ code, message: 'scripted', retryable: false });

describeOnDatabases('the memory of a conversation', (open) => {
  let database: Database;
  let store: ChatStore;
  let contexts: ContextStore;
  let applicationId: string;

  beforeAll(async () => {
    database = await open();
    store = new ChatStore(database);
    contexts = new ContextStore(database);
    applicationId = await new ApplicationStore(database).ensureBuiltIn({ kind: 'all', name: 'all' });
  });

  /** A chat of rounds q1, q2, … with so many tokens each, half of them the question's. */
  async function chatOf(...tokens: number[]): Promise<string> {
    const chatId = await store.insertChat({ applicationId, clientId: LOCAL_USER_ID, expireMinutes: 30 });
    await add(chatId, ...tokens);
    return chatId;
  }

  async function add(chatId: string, ...tokens: number[]): Promise<string[]> {
    const before = (await store.listRoundSizes(chatId, 0)).length;
    const ids: string[] = [];
    for (const [place, count] of tokens.entries()) {
      const n = before + place + 1;
      const half = Math.floor(count / 2);
      ids.push(
        await storeRound(store, chatId, {
          question: `q${n}`,
          answer: `a${n}`,
          questionTokens: half,
          answerTokens: count - half,
        }),
      );
    }
    return ids;
  }

  async function load(chatId: string, changes: Partial<ContextRequest> = {}, model = new FakeSummariser()) {
    const phases: string[] = [];
    const loaded = await loadContext(
      { store, contexts, model, log: pino({ level: 'silent' }) },
      {
        chatId,
        dialogueNumber: 2,
        limits: { recentTokens: 1000, contextTokens: 8192 },
        fence: null,
        onCompacting: () => void phases.push('compacting'),
        signal: new AbortController().signal,
        ...changes,
      },
    );
    return { ...loaded, questions: loaded.rounds.map(({ question }) => question), model, phases };
  }

  it('R50 carries thirty short rounds below the threshold and calls no model', async () => {
    const chatId = await chatOf(...Array(30).fill(20));

    const { questions, model, phases, info } = await load(chatId);

    expect(questions).toHaveLength(30);
    expect(model.requests).toEqual([]);
    expect(phases).toEqual([]);
    expect(info).toMatchObject({ enabled: true, compacted: false, recent_rounds: 30, estimated_tokens: 600 });
    expect(info).toMatchObject({ threshold_exceeded: false, compaction_reason: 'none', token_budget: 1000 });
  });

  it.each([
    [1000, false],
    [1001, true],
  ])('R51 with %i of 1000 tokens compacts: %s', async (tokens, compacts) => {
    const chatId = await chatOf(tokens - 200, 100, 100);

    const { model, phases, info, questions } = await load(chatId);

    expect(model.requests).toHaveLength(compacts ? 1 : 0);
    expect(phases).toEqual(compacts ? ['compacting'] : []);
    expect(info).toMatchObject({ threshold_exceeded: compacts, compacted: compacts });
    expect(questions).toEqual(compacts ? ['q2', 'q3'] : ['q1', 'q2', 'q3']);
  });

  it('R48 R62 merges what is older, keeps the recent rounds and advances the watermark', async () => {
    const chatId = await chatOf(400, 400, 100, 200);
    const sizes = await store.listRoundSizes(chatId, 0);

    const { summary, questions, info, usage } = await load(chatId);

    expect(summary).toBe('q1 q2');
    expect(questions).toEqual(['q3', 'q4']);
    expect(info).toMatchObject({ compacted: true, compacted_rounds: 2, recent_rounds: 2, revision: 1 });
    expect(info).toMatchObject({ through_record_id: sizes[1]?.recordId, compaction_reason: 'token_budget_exceeded' });
    expect(info.estimated_tokens).toBe(300 + countTokens('q1 q2'));
    expect(usage).toEqual({ promptTokens: 11, completionTokens: 3 });
    expect(await contexts.load(chatId)).toMatchObject({ revision: 1, compactedRounds: 2, throughIndex: 2 });
  });

  it('R64 goes on from the watermark and merges nothing twice', async () => {
    const chatId = await chatOf(400, 400, 100, 200);
    await load(chatId);
    const untouched = await load(chatId);
    await add(chatId, 700);

    const { summary, questions, model, info } = await load(chatId);

    expect(untouched.model.requests).toEqual([]);
    expect(untouched).toMatchObject({ summary: 'q1 q2', info: { compacted: false, compacted_rounds: 2 } });
    expect(model.requests[0]?.task).toMatchObject({
      summary: 'q1 q2',
      rounds: [{ question: 'q3' }, { question: 'q4' }],
    });
    expect(summary).toBe('q1 q2 q3 q4');
    expect(questions).toEqual(['q5']);
    expect(info).toMatchObject({ revision: 2, compacted_rounds: 4 });
  });

  it('R46 R79 merges in batches, each with its own revision, and says so once', async () => {
    const chatId = await chatOf(...Array(45).fill(40));

    const { model, phases, info } = await load(chatId);

    expect(model.requests.map(({ task }) => (task.kind === 'summarise' ? task.rounds.length : 0))).toEqual([20, 20, 3]);
    expect(phases).toEqual(['compacting']);
    expect(info).toMatchObject({ revision: 3, compacted_rounds: 43, recent_rounds: 2 });
  });

  it('R17 R18 asks for the summary without thinking, as data, with the summary\u2019s allowance', async () => {
    const chatId = await chatOf(900, 100, 100);

    const { model } = await load(chatId);

    const [request] = model.requests;
    expect(request).toMatchObject({ thinking: 'disabled', maxTokens: 333, responseFormat: 'text' });
    expect(request?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(request?.messages[1]?.content).toContain('<conversation>');
  });

  it.each<[string, FakeSummariser['answer']]>([
    ['fails', () => Promise.reject(refused('unavailable'))],
    ['is cut off', () => ({ content: 'half a summ', finishReason: 'length' })],
    ['never says why it stopped', () => ({ content: 'half a summ', finishReason: 'unfinished' })],
    ['is blank', () => ({ content: ' \n\u0000' })],
    ['is too long', () => ({ content: 'word '.repeat(400) })],
  ])('R63 R20 goes on with the old summary and the recent rounds when the summary %s', async (_name, answer) => {
    const chatId = await chatOf(400, 400, 100, 200);
    await load(chatId);
    await add(chatId, 700);
    const before = await contexts.load(chatId);
    const model = new FakeSummariser();
    model.answer = answer;

    const failed = await load(chatId, {}, model);

    expect(failed).toMatchObject({ summary: 'q1 q2', questions: ['q5'] });
    expect(failed.info).toMatchObject({ compaction_reason: 'failed', compacted: false, revision: 1 });
    expect(await contexts.load(chatId)).toEqual(before);
    expect((await load(chatId)).summary).toBe('q1 q2 q3 q4');
  });

  it('R63 keeps the batches before a failure, and takes up there', async () => {
    const chatId = await chatOf(...Array(45).fill(40));
    const model = new FakeSummariser();
    model.answer = (_request, call) =>
      call === 2 ? Promise.reject(refused('unavailable')) : { content: `through ${call}` };

    const { info, summary } = await load(chatId, {}, model);
    const next = await load(chatId);

    expect(info).toMatchObject({ compacted: true, compaction_reason: 'failed', compacted_rounds: 20, revision: 1 });
    expect(summary).toBe('through 1');
    expect(next.info).toMatchObject({ compacted_rounds: 43, revision: 3 });
    expect(next.summary.startsWith('through 1 q21')).toBe(true);
  });

  it('R70 loses no summary to a second writer', async () => {
    const chatId = await chatOf(400, 400, 100, 200);
    const model = new FakeSummariser();
    model.answer = async () => {
      await load(chatId);
      return { content: 'too late' };
    };

    const late = await load(chatId, {}, model);

    expect(late.info).toMatchObject({ compaction_reason: 'failed', compacted: false });
    expect(await contexts.load(chatId)).toMatchObject({ summary: 'q1 q2', revision: 1, compactedRounds: 2 });
  });

  it('stops when it is told to, and leaves what was merged', async () => {
    const chatId = await chatOf(...Array(45).fill(40));
    const controller = new AbortController();
    const model = new FakeSummariser();
    model.answer = (_request, call) => {
      if (call === 1) return { content: 'first' };
      controller.abort();
      return Promise.reject(refused('aborted'));
    };

    await expect(load(chatId, { signal: controller.signal }, model)).rejects.toMatchObject({ name: 'AbortError' });

    expect(await contexts.load(chatId)).toMatchObject({ summary: 'first', revision: 1 });
  });

  it('R69 with history off carries nothing, not even a summary, and does not compact', async () => {
    const chatId = await chatOf(400, 400, 100, 200);
    await load(chatId);
    await add(chatId, 5000, 5000);

    const { summary, rounds, info, model } = await load(chatId, { dialogueNumber: 0 });

    expect([summary, rounds, model.requests]).toEqual(['', [], []]);
    expect(info).toMatchObject({ enabled: false, recent_rounds: 0, compacted: false, compaction_reason: 'none' });
    expect(await contexts.load(chatId)).toMatchObject({ revision: 1 });
  });

  it('R53 R54 R58 clips a single round over the limit, without a compaction', async () => {
    const chatId = await store.insertChat({ applicationId, clientId: LOCAL_USER_ID, expireMinutes: 30 });
    await storeRound(store, chatId, { question: '请总结', answer: '年休假'.repeat(5000) });

    const { rounds, info, model, phases } = await load(chatId);

    expect(model.requests).toEqual([]);
    expect(phases).toEqual([]);
    expect(rounds).toHaveLength(1);
    expect(rounds[0]?.question).toBe('请总结');
    expect(rounds[0]?.answer).toMatch(/^年休假.*…\[clipped\]$/);
    expect(rounds[0]?.tokens).toBeLessThanOrEqual(1000 - 333);
    expect(info).toMatchObject({ threshold_exceeded: true, compacted: false, compaction_reason: 'none' });
  });

  it('R59 leaves the stored rounds whole', async () => {
    const chatId = await store.insertChat({ applicationId, clientId: LOCAL_USER_ID, expireMinutes: 30 });
    const answer = '三十日内提交。'.repeat(3000);
    await storeRound(store, chatId, { question: 'long', answer });
    await add(chatId, 100, 100);

    const { model } = await load(chatId);

    const [round] = await store.readRounds(chatId, 1, 1);
    expect(round).toEqual({ question: 'long', answer });
    expect(model.requests[0]?.messages[1]?.content).toContain('…[clipped]');
  });

  it('R66 takes no record without an answer for a round, and a stopped one with one', async () => {
    const chatId = await chatOf(10);
    await storeRound(store, chatId, { question: 'failed', answer: 'Exception', state: 'failed' });
    await storeRound(store, chatId, { question: 'interrupted', answer: '', state: 'interrupted' });
    await storeRound(store, chatId, { question: 'stopped', answer: 'half', state: 'stopped' });
    await startRecord(store, chatId, { question: 'running' });

    expect((await load(chatId)).questions).toEqual(['q1', 'stopped']);
  });

  it('refuses a merge that would move the watermark back', async () => {
    const chatId = await chatOf(400, 400, 100, 200);
    await load(chatId);
    const [first] = await store.listRoundSizes(chatId, 0);
    if (!first) throw new Error('no round');

    const merge = { chatId, revision: 1, summary: 's', summaryTokens: 1, through: first, rounds: 1, fence: null };

    expect(await contexts.saveMerge(merge)).toBeNull();
    expect(await contexts.saveMerge({ ...merge, revision: 0 })).toBeNull();
    expect(await contexts.load(chatId)).toMatchObject({ summary: 'q1 q2', revision: 1 });
  });
});
