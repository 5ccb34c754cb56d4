import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentStatus, answerChunk, type RecordDetail, recordDetail, streamError } from '../../contract/chat.ts';
import type { Database } from '../database/database.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { OfflineChatModel } from '../models/offline/offline-chat-model.ts';
import { type AskApp, contentWords, startAskApp } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { startScriptedClient, until } from '../testing/scripted-client.ts';
import { cutStream, reply } from '../testing/scripted-steps.ts';

const QUESTION = '工作满10年的员工年休假有几天？';
const ANSWER =
  '“员工累计工作已满1年不满10年的，年休假5天；已满10年不满20年的，年休假10天；已满20年的，年休假15天。” [1]';
const SUFFICIENT = '{"sufficient":true,"missing":"","queries":[]}';

/** Answers like the offline model, each delta when `gate` opens. */
class GatedModel extends OfflineChatModel {
  open: () => void = () => undefined;
  started = 0;
  readonly #gate = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  constructor() {
    super(contentWords);
  }

  override streamOpenAi(...[request, onDelta]: Parameters<ChatModel['streamOpenAi']>) {
    this.started += 1;
    return super.streamOpenAi(request, async (delta) => {
      await this.#gate;
      await onDelta(delta);
    });
  }
}

describeOnDatabases('chat over HTTP', (open) => {
  let database: Database;
  let app: AskApp;
  const started: AskApp[] = [];

  beforeAll(async () => {
    database = await open();
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close();
  });

  async function start(changes: Parameters<typeof startAskApp>[1] = {}): Promise<void> {
    app = await startAskApp(database, changes);
    started.push(app);
  }

  async function lastRecord(chatId: string): Promise<RecordDetail> {
    const { data } = await app.getJson(`${app.recordsOf(chatId)}/1/1`);
    return recordDetail.strict().parse((data as { records: unknown[] }).records[0]);
  }

  describe('the stream', () => {
    it('is byte for byte what the contract says, without named events', async () => {
      await start({ deps: { agentStatus: false } });
      const chatId = await app.openChat();

      const response = await app.ask(chatId, { message: QUESTION });
      const text = await response.text();

      const { id } = await lastRecord(chatId);
      const frame = (content: string, end: boolean) =>
        `data: {"chat_id":"${chatId}","chat_record_id":"${id}","operate":true,"content":${JSON.stringify(content)},` +
        `"node_id":"ai-chat-node","up_node_id_list":[],"is_end":${end},` +
        `"usage":{"completion_tokens":0,"prompt_tokens":0,"total_tokens":0},"node_is_end":${end},` +
        `"view_type":"many_view","node_type":"ai-chat-node"` +
        `${end ? '' : ',"real_node_id":"ai-chat-node","reasoning_content":""'}}\n\n`;
      expect(response.headers.get('content-type')).toBe('text/event-stream;charset=utf-8');
      expect(text).toBe(frame(ANSWER, false) + frame('', false) + frame('', true));
    });

    it.each([
      [true, undefined, true],
      [true, 'off', false],
      [false, 'on', true],
      [false, undefined, false],
      [false, 'perhaps', false],
    ])('with named events %s and X-Agent-Status %s has them: %s', async (byDefault, header, expected) => {
      await start({ deps: { agentStatus: byDefault } });

      const response = await app.ask(
        await app.openChat(),
        { message: QUESTION },
        header === undefined ? {} : { headers: { 'x-agent-status': header } },
      );
      const frames = parseFrames(await response.text());

      expect(frames.some(({ name }) => name === 'agent_status')).toBe(expected);
      expect(frames.at(-1)?.data).toMatchObject({ is_end: true, content: '' });
    });

    it('tells the phases in order, then the answer, and the record says the same', async () => {
      await start();
      const chatId = await app.openChat();

      const text = await (await app.ask(chatId, { message: `${QUESTION}另外，食堂几点开门？` })).text();

      const frames = parseFrames(text);
      const phases = frames.filter(({ name }) => name === 'agent_status').map(({ data }) => agentStatus.parse(data));
      const chunks = frames.filter(({ name }) => name === '').map(({ data }) => answerChunk.strict().parse(data));
      const record = await lastRecord(chatId);
      expect(phases.map(({ phase }) => phase)).toEqual([
        ...['context', 'retrieving', 'assessed', 'retrieving', 'assessed', 'generating'],
      ]);
      expect(phases.at(-1)).toMatchObject({ rounds: record.agent_trace.length, stop_reason: record.agent_stop_reason });
      expect(chunks.map(({ content }) => content).join('')).toBe(record.answer_text);
      expect(new Set(chunks.map((chunk) => chunk.chat_record_id))).toEqual(new Set([record.id]));
      expect(record).toMatchObject({ state: 'done', problem_text: `${QUESTION}另外，食堂几点开门？` });
      expect(record.citations[0]).toMatchObject({ n: 1, document: '员工手册（2024 版）.docx', verified: true });
    });

    it('carries reasoning only where the application shows it, and the tokens of all calls', async () => {
      const { client } = await startScriptedClient([reply(SUFFICIENT), reply('10天。[1]', { reasoning: '先查年限' })]);
      await start({ model: client });
      const chatId = await app.openChat();

      const frames = parseFrames(await (await app.ask(chatId, { message: QUESTION })).text());

      const last = answerChunk.parse(frames.at(-1)?.data);
      expect(JSON.stringify(frames)).not.toContain('先查年限');
      expect(last.usage.prompt_tokens).toBeGreaterThan(0);
      expect(last.usage.total_tokens).toBe(last.usage.prompt_tokens + last.usage.completion_tokens);
    });
  });

  describe('a failing answer', () => {
    const cutModel = async () => {
      const { client } = await startScriptedClient([reply(SUFFICIENT), cutStream(2, '年休假是10天。[1]')]);
      return client;
    };

    it('ends with an error event and the last chunk, with named events', async () => {
      await start({ model: await cutModel() });
      const chatId = await app.openChat();

      const response = await app.ask(chatId, { message: QUESTION }, { headers: { 'accept-language': 'en-US' } });
      const frames = parseFrames(await response.text());

      expect(response.status).toBe(200);
      expect(frames.at(-2)?.name).toBe('error');
      expect(streamError.strict().parse(frames.at(-2)?.data)).toMatchObject({ code: 'stream_cut' });
      expect(answerChunk.parse(frames.at(-1)?.data)).toMatchObject({ is_end: true, content: '' });
      expect((await lastRecord(chatId)).state).toBe('failed');
    });

    it('ends with an Exception chunk and the last chunk, without, and is stored as it was shown', async () => {
      await start({ model: await cutModel(), deps: { agentStatus: false } });
      const chatId = await app.openChat();

      const text = await (await app.ask(chatId, { message: QUESTION })).text();

      const chunks = parseFrames(text).map(({ name, data }) => {
        expect(name).toBe('');
        return answerChunk.strict().parse(data);
      });
      expect(chunks.at(-2)?.content).toBe('Exception:模型在回答完成之前中断，请重新提问。');
      expect(chunks.at(-2)).toMatchObject({ is_end: false, node_is_end: false });
      expect(chunks.at(-1)).toMatchObject({ is_end: true, content: '' });
      expect((await lastRecord(chatId)).answer_text).toBe(chunks.map(({ content }) => content).join(''));
      expect((await app.ask(chatId, { message: QUESTION })).status).toBe(200);
    });

    it('is HTTP 500 with the reason, in one piece', async () => {
      await start({ model: await cutModel() });
      const chatId = await app.openChat();

      const response = await app.ask(chatId, { message: QUESTION, stream: false });

      expect(response.status).toBe(500);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toEqual({
        code: 500,
        message: '模型在回答完成之前中断，请重新提问。',
        data: {
          chat_id: chatId,
          id: (await lastRecord(chatId)).id,
          operate: true,
          is_end: true,
          content: 'Exception:模型在回答完成之前中断，请重新提问。',
          completion_tokens: 0,
          prompt_tokens: 0,
        },
      });
    });
  });

  it('gives the answer in one piece', async () => {
    await start();
    const chatId = await app.openChat();

    const response = await app.ask(chatId, { message: QUESTION, stream: false });

    const record = await lastRecord(chatId);
    expect(await response.json()).toEqual({
      code: 200,
      message: '成功',
      data: {
        chat_id: chatId,
        id: record.id,
        operate: true,
        is_end: true,
        content: ANSWER,
        reasoning_content: '',
        answer_list: [{ content: ANSWER, reasoning_content: '' }],
        completion_tokens: record.answer_tokens,
        prompt_tokens: record.message_tokens,
      },
    });
  });

  describe('one answer at a time', () => {
    it('refuses a second question before any header of a stream', async () => {
      const model = new GatedModel();
      await start({ model });
      const chatId = await app.openChat();
      const first = await app.ask(chatId, { message: QUESTION });

      const second = await app.ask(chatId, { message: '再问一次？' }, { headers: { 'accept-language': 'en-US' } });

      expect(second.status).toBe(200);
      expect(second.headers.get('content-type')).toBe('application/json');
      expect(await second.json()).toMatchObject({ code: 409, message: expect.stringContaining('still answering') });
      model.open();
      expect(await first.text()).toContain('"is_end":true');
      expect((await app.getJson(`${app.recordsOf(chatId)}/1/20`)).data).toMatchObject({ total: 1 });
    });

    it('lets one of fifty at once through', async () => {
      const model = new GatedModel();
      await start({ model });
      const chatId = await app.openChat();

      const asked = Array.from({ length: 50 }, () => app.ask(chatId, { message: QUESTION }));
      const responses = await Promise.all(asked);
      model.open();
      const texts = await Promise.all(responses.map((response) => response.text()));

      expect(texts.filter((text) => text.includes('"is_end":true'))).toHaveLength(1);
      expect(texts.filter((text) => text.startsWith('{"code":409,'))).toHaveLength(49);
    });

    it('answers fifty conversations at once, each with its own record', async () => {
      await start();
      const chatIds = await Promise.all(Array.from({ length: 50 }, () => app.openChat()));

      const texts = await Promise.all(
        chatIds.map(async (chatId) => (await app.ask(chatId, { message: QUESTION })).text()),
      );

      texts.forEach((text, index) => {
        const chunks = parseFrames(text).filter(({ name }) => name === '');
        expect(chunks.every(({ data }) => (data as { chat_id: string }).chat_id === chatIds[index])).toBe(true);
        expect(chunks.at(-1)?.data).toMatchObject({ is_end: true });
      });
    });
  });

  describe('a reader', () => {
    it('that leaves finds the whole answer later, and the conversation free', async () => {
      const model = new GatedModel();
      await start({ model });
      const chatId = await app.openChat();
      const leave = new AbortController();
      const response = await app.ask(chatId, { message: QUESTION }, { signal: leave.signal });
      await response.body?.getReader().read();

      leave.abort();
      await until(() => model.started > 0, 5000);
      expect((await lastRecord(chatId)).state).toBe('running');
      model.open();
      await until(() => app.ports.running.size === 0, 5000);

      expect(await lastRecord(chatId)).toMatchObject({ state: 'done', answer_text: ANSWER });
      expect(await (await app.ask(chatId, { message: QUESTION })).text()).toContain('"is_end":true');
    });

    it('that is slow slows the model down and misses nothing', async () => {
      const total = 1000;
      const piece = 'a long answer, '.repeat(500);
      let sent = 0;
      const model = new (class extends OfflineChatModel {
        override async streamOpenAi(...[, onDelta]: Parameters<ChatModel['streamOpenAi']>) {
          for (; sent < total; sent += 1) await onDelta({ content: piece, reasoningContent: '' });
          return { ...ENDED, content: piece.repeat(total) };
        }
      })(contentWords);
      await start({ model });
      const reader = (await app.ask(await app.openChat(), { message: QUESTION })).body?.getReader();
      await reader?.read();
      let settled = -1;
      while (settled !== sent) {
        settled = sent;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }

      expect(settled).toBeLessThan(total);
      let bytes = 0;
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) bytes += read.value.length;
      expect(sent).toBe(total);
      expect(bytes).toBeGreaterThan((total - 100) * Buffer.byteLength(piece));
    }, 120_000);
  });

  it('ends open streams when the server stops', async () => {
    const model = new GatedModel();
    await start({ model });
    const chatId = await app.openChat();
    // The model looks at the signal between two pieces of an answer.
    const response = await app.ask(chatId, { message: `${QUESTION}另外，差旅报销要在多少日内提交？` });
    await until(() => model.started > 0, 5000);

    // As main does it, but with the listener closed while the stream is still open.
    const closing = Promise.all([app.app.close(), app.close()]);
    model.open();
    const frames = parseFrames(await response.text());
    await closing;

    expect(frames.at(-2)).toMatchObject({ name: 'error', data: { code: 'interrupted' } });
    const { records } = await app.ports.store.pageRecords(chatId, { page: 1, size: 1, newestFirst: true });
    expect(records[0]?.state).toBe('interrupted');
    expect(frames.at(-1)?.data).toMatchObject({ is_end: true });
  });
});

const ENDED = {
  reasoningContent: '',
  finishReason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1 },
} as const;

/** Frames as the contract writes them; anything else fails the test. */
function parseFrames(text: string): { name: string; data: unknown }[] {
  expect(text.endsWith('\n\n')).toBe(true);
  expect(text).not.toContain('\r');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const match = /^(?:id: \d+\n)?(?:event: (\w+)\n)?data: (\{[^\n]*\})$/.exec(frame);
      expect(match, frame).not.toBeNull();
      return { name: match?.[1] ?? '', data: JSON.parse(match?.[2] ?? '') as unknown };
    });
}
