import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import type { UniChatClient } from '../models/uni-chat-client.ts';
import { type AnswerFrame, hasEnded, lastIdOf, readFrames, textOf } from '../testing/answer-frames.ts';
import { type AskApp, startAskApp } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { startScriptedClient, until } from '../testing/scripted-client.ts';
import { hangAfter, type ReplyOptions, reply, type Step } from '../testing/scripted-steps.ts';
import { startRecord } from '../testing/stored-rounds.ts';
import { LeaseStore } from './lease-store.ts';

const QUESTION = '工作满10年的员工年休假有几天？';
const ANSWER = '已满10年不满20年的，年休假10天。[1] 国家法定休假日、休息日不计入年休假的假期。👩‍👩‍👧‍👦 [1]';
const SUFFICIENT = '{"sufficient":true,"missing":"","queries":[]}';
const UNKNOWN_ID = '0190a000-0000-7000-8000-00000000ffff';

describeOnDatabases('a stream that was cut', (open, engine) => {
  let database: Database;
  let app: AskApp;
  const started: AskApp[] = [];

  beforeAll(async () => {
    database = await open();
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close();
  });

  async function start(model?: UniChatClient): Promise<void> {
    app = await startAskApp(database, model ? { model } : {});
    started.push(app);
  }

  /** A model that is content with the evidence and answers as `step` says. */
  async function modelThat(step: Step) {
    return startScriptedClient((request) => (request.body['stream'] === true ? step : reply(SUFFICIENT)), {
      timeouts: { headersMs: 5000, idleMs: 20_000, totalMs: 30_000 },
    });
  }

  const answering = (options: ReplyOptions = {}) => modelThat(reply(ANSWER, { chunkSize: 2, ...options }));

  async function recordIdOf(chatId: string): Promise<string> {
    const { data } = await app.getJson(`${app.recordsOf(chatId)}/1/1`);
    return (data as { records: { id: string }[] }).records[0]?.id ?? '';
  }

  /** What only a database with several servers can show. */
  const onPostgresql = (name: string, test: () => Promise<void>) => {
    if (engine === 'postgresql') it(name, test);
  };

  const follow = (chatId: string, recordId: string, lastEventId = '') =>
    app.call(`${app.recordsOf(chatId)}/${recordId}/events`, { headers: { 'last-event-id': lastEventId } });

  it('R74 has an id on every frame but the first of an end, growing by one with each event', async () => {
    await start((await answering()).client);
    const chatId = await app.openChat();

    const frames = await readFrames(await app.ask(chatId, { message: QUESTION }));

    const ids = frames.map(({ id }) => id).filter((id) => id !== '');
    expect(ids).toEqual(ids.map((_, place) => String(place + 1)));
    expect(frames.filter(({ id }) => id === '')).toHaveLength(1);
    expect(frames.at(-1)?.id).not.toBe('');
  });

  it('R74 R85 is replayed as it was, from the beginning and from any id', async () => {
    await start((await answering()).client);
    const chatId = await app.openChat();
    const whole = await readFrames(await app.ask(chatId, { message: QUESTION }));
    const recordId = await recordIdOf(chatId);

    expect(await readFrames(await follow(chatId, recordId))).toEqual(whole);
    for (const id of ['1', '3', '7']) {
      const rest = whole.slice(whole.findIndex((frame) => frame.id === id) + 1);
      expect(await readFrames(await follow(chatId, recordId, id))).toEqual(rest);
    }
    const end = await readFrames(await follow(chatId, recordId, lastIdOf(whole)));
    expect(hasEnded(end)).toBe(true);
  });

  it('goes on to the same text after twenty random cuts', async () => {
    await start((await answering({ delayMs: 4 })).client);
    const lengths: number[] = [];
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };

    for (let cut = 0; cut < 20; cut += 1) {
      const chatId = await app.openChat();
      const frames: AnswerFrame[] = await readFrames(await app.ask(chatId, { message: QUESTION }), {
        maxBytes: random(12_000),
      });
      const recordId = await recordIdOf(chatId);
      lengths.push(frames.length);
      // Some readers are cut off again.
      if (random(2) === 0) {
        frames.push(
          ...(await readFrames(await follow(chatId, recordId, lastIdOf(frames)), { maxBytes: random(6000) })),
        );
      }
      while (!hasEnded(frames)) frames.push(...(await readFrames(await follow(chatId, recordId, lastIdOf(frames)))));

      const { data } = await app.getJson(`${app.recordsOf(chatId)}/${recordId}`);
      expect(textOf(frames)).toBe(ANSWER);
      expect(data).toMatchObject({ answer_text: ANSWER, state: 'done' });
    }
    expect(new Set(lengths).size).toBeGreaterThan(8);
  });

  it('R66 tells the end only when the conversation is free', async () => {
    await start((await answering({ delayMs: 2 })).client);
    const chatId = await app.openChat();
    const first = app.ask(chatId, { message: QUESTION });
    await until(() => app.ports.running.size > 0, 5000);

    const frames = await readFrames(await follow(chatId, await recordIdOf(chatId)));

    expect(hasEnded(frames)).toBe(true);
    const next = await app.ask(chatId, { message: QUESTION });
    expect(next.headers.get('content-type')).toContain('text/event-stream');
    await Promise.all([next.text(), (await first).text()]);
  });

  it('is replayed at once although the next answer is under way', async () => {
    await start((await answering()).client);
    const chatId = await app.openChat();
    await (await app.ask(chatId, { message: QUESTION })).text();
    const recordId = await recordIdOf(chatId);
    const lease = await app.ports.lock.tryAcquire(chatId);
    const startedMs = performance.now();

    const frames = await readFrames(await follow(chatId, recordId));

    expect(hasEnded(frames)).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(2000);
    await lease?.release();
  });

  it('stops within a second, keeps what was said, cancels the upstream call and is told to every reader', async () => {
    const { client, server } = await modelThat(hangAfter(6, ANSWER));
    await start(client);
    const chatId = await app.openChat();
    const asking = app.ask(chatId, { message: QUESTION }).then((response) => readFrames(response));
    await until(() => server.requests.some(({ body }) => body['stream'] === true), 5000);
    const following = follow(chatId, await recordIdOf(chatId)).then((response) => readFrames(response));
    await setTimeout(300);

    const askedMs = performance.now();
    const stopped = await app.call(`/api/application/${app.applicationId}/chat/${chatId}/stop`, { method: 'POST' });
    const tookMs = performance.now() - askedMs;

    expect(await stopped.json()).toMatchObject({ code: 200, data: { stopped: true, running: false } });
    expect(tookMs).toBeLessThan(1000);
    expect(server.requests.at(-1)?.aborted).toBe(true);
    for (const frames of [await asking, await following]) {
      expect(frames.at(-2)).toMatchObject({ event: 'error', data: { code: 'stopped' } });
      expect(hasEnded(frames)).toBe(true);
    }
    const { data } = await app.getJson(`${app.recordsOf(chatId)}/${await recordIdOf(chatId)}`);
    const said = textOf(await following);
    expect(said.length).toBeGreaterThan(0);
    expect(data).toMatchObject({ state: 'stopped', answer_text: said });
    expect(await app.ports.lock.holderOf(chatId)).toBeNull();
  });

  it('has nothing to stop where nothing runs', async () => {
    await start();
    const chatId = await app.openChat();

    const stopped = await app.call(`/api/application/${app.applicationId}/chat/${chatId}/stop`, { method: 'POST' });

    expect(await stopped.json()).toMatchObject({ code: 200, data: { stopped: false, running: false } });
  });

  it('a stop that comes when the answer is done does not say that it stopped it', async () => {
    await start();
    const chatId = await app.openChat();
    const recordId = await startRecord(app.ports.store, chatId, { question: QUESTION });
    const lease = await app.ports.lock.tryAcquire(chatId);

    const stopping = app.call(`/api/application/${app.applicationId}/chat/${chatId}/stop`, { method: 'POST' });
    await until(() => lease?.signal.aborted === true, 2000);
    await database.query(`update max_kb_application_chat_record set state = 'done' where id = $1`, [recordId]);
    await lease?.release();

    expect(await (await stopping).json()).toMatchObject({ data: { stopped: false, running: false } });
  });

  it('is not kept for ever: after an hour it says that the record has the answer', async () => {
    await start();
    const chatId = await app.openChat();
    await (await app.ask(chatId, { message: QUESTION })).text();
    const recordId = await recordIdOf(chatId);
    await app.ports.events.deleteOld();
    expect(await app.ports.events.hasAny(recordId)).toBe(true);

    const ago = `clock_timestamp() - interval '61 minutes'`;
    await database.query(`update max_kb_chat_event set create_time = ${ago} where record_id = $1`, [recordId]);
    await database.query(`update max_kb_application_chat_record set update_time = ${ago} where id = $1`, [recordId]);
    await app.ports.events.deleteOld();

    expect(await (await follow(chatId, recordId)).json()).toMatchObject({ code: 410 });
  });

  it('R81 ends as interrupted where the server that answered died', async () => {
    await start();
    const chatId = await app.openChat();
    const recordId = await startRecord(app.ports.store, chatId, { question: QUESTION });
    await app.ports.events.append(recordId, {
      firstNumber: 1,
      events: [
        { kind: 'status', status: { phase: 'context' } },
        { kind: 'answer-delta', content: '年休假', reasoningContent: '' },
      ],
    });

    const frames = await readFrames(await follow(chatId, recordId, '1'));

    expect(frames.map(({ event }) => event)).toEqual(['', 'error', '']);
    expect(frames[1]?.data).toMatchObject({ code: 'interrupted' });
    expect(hasEnded(frames)).toBe(true);
    const { data } = await app.getJson(`${app.recordsOf(chatId)}/${recordId}`);
    expect(data).toMatchObject({ state: 'interrupted' });
    expect(hasEnded(await readFrames(await follow(chatId, recordId, '2')))).toBe(true);
  });

  onPostgresql('R67 is followed, stopped and refused as busy from another server', async () => {
    const { client, server } = await modelThat(hangAfter(6, ANSWER));
    await start(client);
    const one = app;
    const chatId = await one.openChat();
    const asking = one.ask(chatId, { message: QUESTION }).then((response) => readFrames(response));
    await until(() => server.requests.some(({ body }) => body['stream'] === true), 5000);
    await start();

    const refused = await app.ask(chatId, { message: QUESTION });
    const following = follow(chatId, await recordIdOf(chatId)).then((response) => readFrames(response));
    await setTimeout(300);
    const askedMs = performance.now();
    await app.call(`/api/application/${app.applicationId}/chat/${chatId}/stop`, { method: 'POST' });

    expect(await refused.json()).toMatchObject({ code: 409 });
    expect(performance.now() - askedMs).toBeLessThan(1000);
    expect(server.requests.at(-1)?.aborted).toBe(true);
    expect(textOf(await following)).toBe(textOf(await asking));
  });

  onPostgresql('R67 loses nothing when the database drops every connection', async () => {
    await start((await answering({ delayMs: 15 })).client);
    const chatId = await app.openChat();
    const asking = app.ask(chatId, { message: QUESTION }).then((response) => readFrames(response));
    await until(() => app.ports.running.size > 0, 5000);
    await setTimeout(150);

    await database
      .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()')
      .catch(() => undefined);

    expect(textOf(await asking)).toBe(ANSWER);
    expect(await app.ports.lock.holderOf(chatId)).toBeNull();
  });

  onPostgresql('R67 R81 a crashed server keeps nobody waiting for longer than its lease', async () => {
    await start();
    const chatId = await app.openChat();
    await new LeaseStore(database).take(chatId, { owner: LOCAL_USER_ID, ttlMs: 600 });
    const recordId = await startRecord(app.ports.store, chatId, { question: QUESTION });
    expect(await (await app.ask(chatId, { message: QUESTION })).json()).toMatchObject({ code: 409 });

    const frames = await readFrames(await follow(chatId, recordId));

    expect(frames.at(-2)?.data).toMatchObject({ code: 'interrupted' });
    const next = await app.ask(chatId, { message: QUESTION });
    expect(hasEnded(await readFrames(next))).toBe(true);
  });

  it('R72 R73 is as unknown to others, in other applications and other chats as any', async () => {
    await start();
    const chatId = await app.openChat();
    await (await app.ask(chatId, { message: QUESTION })).text();
    const recordId = await recordIdOf(chatId);
    const otherChat = await app.openChat();
    const folder = { kind: 'folder', name: '别的', folder: '/other' } as const;
    const otherApplication = await app.ports.applications.ensureBuiltIn(folder);
    const strangers = await app.ports.store.insertChat({
      applicationId: app.applicationId,
      clientId: UNKNOWN_ID,
      expireMinutes: 30,
    });
    const own = `/api/application/${app.applicationId}/chat`;

    for (const chat of [
      `${own}/${strangers}`,
      `/api/application/${otherApplication}/chat/${chatId}`,
      `${own}/nonsense`,
    ]) {
      const calls: [string, string][] = [
        ['GET', `${chat}/context`],
        ['POST', `${chat}/context/compact`],
        ['POST', `${chat}/stop`],
        ['DELETE', chat.replace('/chat/', '/chat/client/')],
        ['GET', `${chat}/chat_record/${recordId}/events`],
      ];
      for (const [method, address] of calls) {
        const response = await app.call(address, { method });
        expect(await response.json(), `${method} ${address}`).toMatchObject({ code: 404, message: '会话不存在。' });
      }
    }
    expect(await (await follow(otherChat, recordId)).json()).toMatchObject({ code: 404, message: '对话记录不存在。' });
    expect(await (await follow(chatId, 'nonsense')).json()).toMatchObject({ code: 404 });
    expect((await app.call(`${own}/${chatId}/context`, { headers: { authorization: 'wrong' } })).status).toBe(401);
  });

  it.each(['x', '-1', '1.5', '99999999999'])('refuses the Last-Event-ID %s', async (id) => {
    await start();
    const chatId = await app.openChat();
    await (await app.ask(chatId, { message: QUESTION })).text();

    expect(await (await follow(chatId, await recordIdOf(chatId), id)).json()).toMatchObject({
      code: 500,
      message: expect.stringContaining('last-event-id'),
    });
  });
});
