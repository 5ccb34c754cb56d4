import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import { countTokens } from '../models/tokens.ts';
import { UniChatClient } from '../models/uni-chat-client.ts';
import { type AskApp, startAskApp } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { type Script, type ScriptedModelServer, startScriptedModelServer } from '../testing/scripted-model-server.ts';
import {
  codeFence,
  cutStream,
  hangAfter,
  reply,
  type Step,
  status,
  thinkBlock,
  truncated,
} from '../testing/scripted-steps.ts';
import { startRecord } from '../testing/stored-rounds.ts';
import { type AskPorts, acceptQuestion } from './ask-question.ts';
import type { ChatEvent } from './chat-events.ts';
import { openChat } from './open-chat.ts';

const verdict = (sufficient: boolean, ...queries: string[]) =>
  reply(JSON.stringify({ sufficient, missing: sufficient ? '' : '住宿标准', queries }));
const QUESTION = '年休假有几天？住宿标准是多少？';

/** The same object, one method of it another. */
function replaceMethod<T extends object, K extends keyof T>(target: T, name: K, method: T[K]): T {
  return new Proxy(target, {
    get: (object, key) => {
      if (key === name) return method;
      const value: unknown = Reflect.get(object, key);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

/** Words that count as exactly so many tokens, one more word as one more. */
function textOfTokens(tokens: number): string {
  let text = Array(tokens - 50)
    .fill('cat')
    .join(' ');
  while (countTokens(text) < tokens) text += ' cat';
  expect([countTokens(text), countTokens(`${text} cat`)]).toEqual([tokens, tokens + 1]);
  return text;
}

describeOnDatabases('asking a question', (open) => {
  let database: Database;
  let app: AskApp;
  let server: ScriptedModelServer | undefined;

  beforeAll(async () => {
    database = await open();
    app = await startAskApp(database);
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  afterAll(() => app.close());

  /** Ports whose models speak to a scripted server. */
  async function portsWith(chat: Script): Promise<AskPorts> {
    server = await startScriptedModelServer({ chat });
    const model = new UniChatClient({
      baseUrl: server.baseUrl,
      apiKey: 'key',
      model: 'scripted',
      maxRetries: 0,
      timeouts: { headersMs: 2000, idleMs: 500, totalMs: 4000 },
    });
    return { ...app.ports, models: { answer: model, auxiliary: model } };
  }

  async function ask(ports: AskPorts, message = QUESTION, inChat?: string, reChat = false) {
    const chatId = inChat ?? (await openChat(ports, { applicationId: app.applicationId, clientId: LOCAL_USER_ID }));
    const accepted = await acceptQuestion(ports, { chatId, clientId: LOCAL_USER_ID, message, reChat });
    const events: ChatEvent[] = [];
    await accepted.run((event) => {
      events.push(event);
    });
    const record = await ports.store.findRecord(chatId, accepted.recordId);
    if (!record) throw new Error('no record');
    return {
      record,
      events,
      chatId,
      phases: events.flatMap((event) => (event.kind === 'status' ? [event.status.phase] : [])),
    };
  }

  it('R9 R15 R118 searches twice for a compound question and answers from both rounds', async () => {
    const ports = await portsWith([
      verdict(false, '差旅 住宿标准'),
      verdict(true),
      reply('年休假5天 [1]。住宿500元 [3]。'),
    ]);

    const { record, phases, events } = await ask(ports);

    expect(record.state).toBe('done');
    expect(record.agent_stop_reason).toBe('sufficient');
    expect(record.agent_trace.map((row) => row.queries)).toEqual([[QUESTION], ['差旅 住宿标准']]);
    expect(record.citations.length).toBeGreaterThan(0);
    expect(phases).toEqual(['context', 'retrieving', 'assessed', 'retrieving', 'assessed', 'generating']);
    expect(events.at(-1)?.kind).toBe('answer-end');
  });

  it('R18 R11 asks the verifier without thinking and in JSON mode, the answer as a stream', async () => {
    const ports = await portsWith([verdict(true), reply('5天 [1]')]);

    await ask(ports);

    const [verification, answer] = server?.requests ?? [];
    expect(verification?.body).toMatchObject({
      thinking: { type: 'disabled' },
      response_format: { type: 'json_object' },
    });
    expect(verification?.body).not.toMatchObject({ stream: true });
    expect(answer?.body).toMatchObject({ stream: true });
  });

  it.each<[string, Step[], string]>([
    ['sufficient', [verdict(true)], 'sufficient'],
    [
      'the round limit',
      [verdict(false, '密码 长度'), verdict(false, '远程办公 申请'), verdict(false, '别的查询')],
      'max_rounds',
    ],
    ['a repeated query', [verdict(false, `${QUESTION} `)], 'duplicate_query'],
    ['nothing new', [verdict(false, '年休假 假期')], 'no_new_evidence'],
    ['no follow-up', [verdict(false)], 'no_followup_query'],
    ['a verifier that says nonsense', [reply('maybe')], 'assessment_error'],
    ['a verifier that is cut off', [truncated('{"sufficient": true')], 'assessment_error'],
    ['a verifier that is down', [status(500)], 'assessment_error'],
    ['a verdict inside a fence', [codeFence({ sufficient: true, missing: '', queries: [] })], 'sufficient'],
    ['a verdict after a think block', [thinkBlock('hm', '{"sufficient": true}')], 'sufficient'],
  ])('R81 R10 stops on %s and still answers', async (_name, verdicts, reason) => {
    const verifications = [...verdicts];
    const last = verdict(false);
    const ports = await portsWith((request) =>
      request.body['stream'] === true ? reply('回答 [1]。') : (verifications.shift() ?? last),
    );

    const { record } = await ask(ports);

    expect(record.agent_stop_reason).toBe(reason);
    expect(record.state).toBe('done');
    expect(record.answer_text).toContain('回答');
    expect(record.agent_trace.at(-1)?.sufficient).toBe(reason === 'sufficient');
  });

  it('R29 R36 stops at the evidence limit', async () => {
    const ports = await portsWith([verdict(false, '密码'), reply('回答')]);

    const { record } = await ask({ ...ports, limits: { ...ports.limits, evidenceTokens: 120 } });

    expect(record.agent_stop_reason).toBe('evidence_budget');
  });

  it('R43 answers without datasets and calls no verifier', async () => {
    const ports = await portsWith([reply('无法核实')]);
    const applicationId = await ports.applications.ensureBuiltIn({ kind: 'folder', name: 'empty', folder: '/empty' });
    const chatId = await openChat(ports, { applicationId, clientId: LOCAL_USER_ID });

    const { record } = await ask(ports, QUESTION, chatId);

    expect(record.agent_stop_reason).toBe('no_datasets');
    expect(record.agent_trace).toEqual([]);
    expect(server?.requests).toHaveLength(1);
  });

  it.each<[string, Step, string]>([
    ['fails', status(500), 'unavailable'],
    ['refuses the key', status(401), 'unauthorized'],
    ['breaks off', cutStream(2), 'stream_cut'],
    ['hangs', hangAfter(2), 'timeout'],
    ['never says why it stopped', reply('halb', { finishReason: null }), 'stream_cut'],
    ['says nothing', reply(''), 'empty_answer'],
  ])('R125 ends the stream and frees the chat when the model %s', async (_name, step, code) => {
    const ports = await portsWith((request) => (request.body['stream'] === true ? step : verdict(true)));

    const { record, events, chatId } = await ask(ports);

    expect(record.state).toBe('failed');
    expect(record.details.error?.code).toBe(code);
    expect(events.at(-1)).toMatchObject({ kind: 'answer-failed', error: { code } });
    expect(events.filter((event) => event.kind === 'answer-end')).toEqual([]);
    expect((await ask(app.ports, QUESTION, chatId)).record.state).toBe('done');
  });

  it('says so in the answer when it reached its length limit', async () => {
    const ports = await portsWith([verdict(true), truncated('年休假5天')]);

    expect((await ask(ports)).record.answer_text).toContain('长度上限');
  });

  it('R121 says which cited numbers were never found', async () => {
    const ports = await portsWith([verdict(true), reply('年休假5天 [1]，住宿500元 [42]。')]);

    const { record } = await ask(ports);

    expect(record.answer_text).toContain('[42] 不是检索到的资料');
    expect(record.citations.map((citation) => citation.n)).toEqual([1]);
  });

  it('R84 keeps the reasoning out of answer and trace', async () => {
    const ports = await portsWith([verdict(true), reply('5天 [1]', { reasoning: 'SECRET THOUGHT' })]);

    const { record } = await ask(ports);

    expect(JSON.stringify(record)).not.toContain('SECRET THOUGHT');
  });

  it('R38 accepts 4000 tokens and refuses 4001 before anything is stored', async () => {
    const chatId = await openChat(app.ports, { applicationId: app.applicationId, clientId: LOCAL_USER_ID });
    const longest = textOfTokens(4000);

    await expect(ask(app.ports, `${longest} cat`, chatId)).rejects.toMatchObject({ code: 'question_too_long' });
    expect((await app.ports.store.pageRecords(chatId, { page: 1, size: 10, newestFirst: true })).total).toBe(0);
    expect((await ask(app.ports, longest, chatId)).record.state).toBe('done');
  });

  it.each(['', '  \n', '\u0000', '\u200b \ufeff'])('refuses the blank question %j', async (message) => {
    await expect(ask(app.ports, message)).rejects.toMatchObject({ code: 'blank_question' });
  });

  it('R40 takes text that looks like a special token, NUL and lone surrogates', async () => {
    const { record } = await ask(app.ports, '<|endoftext|> 年休假\u0000有几天\uD800？');

    expect(record.state).toBe('done');
    expect(record.problem_text).toContain('年休假有几天');
  });

  it('R65 refuses a second question while the first is answered', async () => {
    const chatId = await openChat(app.ports, { applicationId: app.applicationId, clientId: LOCAL_USER_ID });
    const first = await acceptQuestion(app.ports, {
      chatId,
      clientId: LOCAL_USER_ID,
      message: QUESTION,
      reChat: false,
    });

    await expect(ask(app.ports, QUESTION, chatId)).rejects.toMatchObject({ code: 'busy' });
    await first.run(() => {});
    expect((await ask(app.ports, QUESTION, chatId)).record.index).toBe(2);
  });

  it('R73 answers for another client\u2019s chat as for an unknown one', async () => {
    const { chatId } = await ask(app.ports);
    const stranger = { chatId, clientId: '0190a000-0000-7000-8000-0000000000ff', message: QUESTION, reChat: false };

    await expect(acceptQuestion(app.ports, stranger)).rejects.toMatchObject({ code: 'chat_not_found' });
  });

  it('R5 rewrites a follow-up and searches for that', async () => {
    const { chatId } = await ask(await portsWith([verdict(true), reply('5天 [1]')]), '年休假有几天？');
    await server?.close();
    const ports = await portsWith([reply('年休假满20年有几天？'), verdict(true), reply('15天 [1]')]);

    const { record } = await ask(ports, '满20年呢？', chatId);

    expect(record.padding_problem_text).toBe('年休假满20年有几天？');
    expect(record.agent_trace[0]?.queries).toEqual(['年休假满20年有几天？']);
    expect(record.context_info).toMatchObject({ enabled: true, recent_rounds: 1, compaction_reason: 'none' });
    expect(JSON.stringify(server?.requests.at(-1)?.body)).toContain('5天 [1]');
  });

  it.each<[string, Step]>([
    ['fails', status(500)],
    ['is truncated', truncated('年休假')],
    ['is blank', reply(' ')],
  ])('R5 R19 uses the question itself when rewriting %s', async (_name, step) => {
    const { chatId } = await ask(await portsWith([verdict(true), reply('5天 [1]')]), '年休假有几天？');
    await server?.close();
    const ports = await portsWith([step, verdict(true), reply('15天 [1]')]);

    const { record } = await ask(ports, '年休假满20年呢？', chatId);

    expect(record.padding_problem_text).toBeNull();
    expect(record.agent_trace[0]?.queries).toEqual(['年休假满20年呢？']);
    expect(record.details.problem_padding?.['note']).toBeTruthy();
  });

  it('R66 never takes a failed answer for history', async () => {
    const { chatId } = await ask(
      await portsWith((request) => (request.body['stream'] === true ? status(500) : verdict(true))),
    );

    expect(await app.ports.store.listRoundSizes(chatId, 0)).toEqual([]);
  });

  it('R80 R85 keeps the rounds it had when a later one fails', async () => {
    const ports = await portsWith([verdict(false, '远程办公 申请')]);
    let searches = 0;
    const search: AskPorts['search'] = (query) => {
      searches += 1;
      return searches > 1 ? Promise.reject(new Error('database gone')) : ports.search(query);
    };

    const { record, events } = await ask({ ...ports, search });

    expect(record.state).toBe('failed');
    expect(record.agent_trace).toHaveLength(1);
    expect(record.agent_stop_reason).toBeNull();
    expect(events.at(-1)).toMatchObject({ kind: 'answer-failed', error: { code: 'internal_error' } });
  });

  it('stores an answer although the database was away for a moment', async () => {
    const ports = await portsWith([verdict(true), reply('5天 [1]')]);
    let failures = 1;
    const finishRecord: AskPorts['store']['finishRecord'] = (id, finished, written) =>
      failures-- > 0 ? Promise.reject(new Error('connection lost')) : ports.store.finishRecord(id, finished, written);
    const { record, events } = await ask({ ...ports, store: replaceMethod(ports.store, 'finishRecord', finishRecord) });

    expect(record.state).toBe('done');
    expect(events.at(-1)?.kind).toBe('answer-end');
  });

  it('takes an answer for stored whose confirmation was lost, also at the last try', async () => {
    const ports = await portsWith([verdict(true), reply('5天 [1]')]);
    let calls = 0;
    const finishRecord: AskPorts['store']['finishRecord'] = async (id, finished, written) => {
      calls += 1;
      if (calls === 3) await ports.store.finishRecord(id, finished, written);
      if (calls <= 3) throw new Error('connection lost');
      return ports.store.finishRecord(id, finished, written);
    };

    const { record, events } = await ask({ ...ports, store: replaceMethod(ports.store, 'finishRecord', finishRecord) });

    expect(calls).toBe(4);
    expect(record.state).toBe('done');
    expect(events.at(-1)?.kind).toBe('answer-end');
  });

  it('R124 answers with the designated words where nothing was found, and calls no model for it', async () => {
    const ports = await portsWith([verdict(false)]);
    const find = async (id: string) => {
      const application = await app.ports.applications.find(id);
      if (!application) return null;
      const designated = { status: 'designated_answer', value: '没有资料：{question}' } as const;
      return { ...application, datasetSetting: { ...application.datasetSetting, no_references_setting: designated } };
    };
    const applications = replaceMethod(app.ports.applications, 'find', find);

    const { record } = await ask({ ...ports, applications, search: async () => [] }, '火星在哪？');

    expect(record.answer_text).toBe('没有资料：火星在哪？');
    expect(server?.requests).toHaveLength(1);
  });

  it('R126 forgets a chat that was opened and never used', async () => {
    const chatId = await app.ports.store.insertChat({
      applicationId: app.applicationId,
      clientId: LOCAL_USER_ID,
      expireMinutes: -1,
    });

    await expect(ask(app.ports, QUESTION, chatId)).rejects.toMatchObject({ code: 'chat_not_found' });
  });

  it('keeps the paragraphs of the first answer out when it is asked again', async () => {
    const { chatId, record } = await ask(app.ports, '年休假有几天？');
    const again = await ask(app.ports, '年休假有几天？', chatId, true);

    const first = record.agent_trace.flatMap((row) => row.new_paragraph_ids);
    const second = again.record.agent_trace.flatMap((row) => row.new_paragraph_ids);
    expect(first.length).toBeGreaterThan(0);
    expect(second.filter((id) => first.includes(id))).toEqual([]);
  });

  it('answers on when the reader is gone', async () => {
    const chatId = await openChat(app.ports, { applicationId: app.applicationId, clientId: LOCAL_USER_ID });
    const accepted = await acceptQuestion(app.ports, {
      chatId,
      clientId: LOCAL_USER_ID,
      message: QUESTION,
      reChat: false,
    });

    await accepted.run(() => {
      throw new Error('connection closed');
    });

    expect((await app.ports.store.findRecord(chatId, accepted.recordId))?.state).toBe('done');
  });

  it('R59 stores what was said whole, and R81 marks what a crash left', async () => {
    const long = '年休假'.repeat(20_000);
    const ports = await portsWith([verdict(true), reply(`${long} [1]`, { chunkSize: 5000 })]);
    expect((await ask(ports)).record.answer_text).toContain(long);

    const chatId = await openChat(app.ports, { applicationId: app.applicationId, clientId: LOCAL_USER_ID });
    const recordId = await startRecord(app.ports.store, chatId, { question: 'q' });
    expect(await app.ports.store.interruptRunningRecords({ chatId, heldToo: true })).toBe(1);
    expect(await app.ports.store.interruptRunningRecords({ chatId, heldToo: true })).toBe(0);
    expect((await app.ports.store.findRecord(chatId, recordId))?.state).toBe('interrupted');
  });
});
