import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RecordDetail, recordDetail } from '../../contract/chat.ts';
import { type AskApp, startAskApp } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';

const QUESTION = '工作满10年的员工年休假有几天？';
const UNKNOWN_ID = '0190a000-0000-7000-8000-00000000ffff';

describeOnDatabases('records and applications over HTTP', (open) => {
  let app: AskApp;
  beforeAll(async () => {
    app = await startAskApp(await open());
  });
  afterAll(() => app.close());

  async function lastRecord(chatId: string): Promise<RecordDetail> {
    const { data } = await app.getJson(`${app.recordsOf(chatId)}/1/1`);
    return recordDetail.strict().parse((data as { records: unknown[] }).records[0]);
  }

  it('come newest first, and oldest first where order_asc is false', async () => {
    const chatId = await app.openChat();
    for (const message of ['一？', '二？', '三？']) await (await app.ask(chatId, { message })).text();
    const questions = async (query: string) => {
      const { data } = await app.getJson(`${app.recordsOf(chatId)}/${query}`);
      const page = data as { total: number; current: number; size: number; records: RecordDetail[] };
      return { ...page, records: page.records.map((record) => record.problem_text) };
    };

    expect(await questions('1/2')).toEqual({ total: 3, current: 1, size: 2, records: ['三？', '二？'] });
    expect(await questions('2/2')).toMatchObject({ records: ['一？'], current: 2 });
    expect(await questions('1/20?order_asc=true')).toMatchObject({ records: ['三？', '二？', '一？'] });
    expect(await questions('1/20?order_asc=false')).toMatchObject({ records: ['一？', '二？', '三？'] });
    expect(await questions('9/20')).toMatchObject({ records: [], total: 3 });
    expect((await app.getJson(`${app.recordsOf(chatId)}/1/20?order_asc=maybe`)).code).toBe(500);
  });

  it('are found only by their owner, in their application and chat; all else is as unknown', async () => {
    const chatId = await app.openChat();
    await (await app.ask(chatId, { message: QUESTION })).text();
    const { id } = await lastRecord(chatId);
    const otherChat = await app.openChat();
    const folder = { kind: 'folder', name: '别的', folder: '/other' } as const;
    const otherApplication = await app.ports.applications.ensureBuiltIn(folder);
    const strangersChat = await app.ports.store.insertChat({
      applicationId: app.applicationId,
      clientId: UNKNOWN_ID,
      expireMinutes: 30,
    });

    const unknownChat = await app.getJson(`${app.recordsOf(UNKNOWN_ID)}/${id}`);
    const unknownRecord = await app.getJson(`${app.recordsOf(chatId)}/${UNKNOWN_ID}`);

    expect(unknownChat).toEqual({ code: 404, message: '会话不存在。', data: null });
    expect(unknownRecord).toEqual({ code: 404, message: '对话记录不存在。', data: null });
    expect(await app.getJson(`${app.recordsOf(chatId)}/${id}`)).toMatchObject({ code: 200, data: { id } });
    expect(await app.getJson(`${app.recordsOf(strangersChat)}/${id}`)).toEqual(unknownChat);
    expect(await app.getJson(`${app.recordsOf(strangersChat)}/1/20`)).toEqual(unknownChat);
    expect(await app.getJson(`/api/application/${otherApplication}/chat/${chatId}/chat_record/${id}`)).toEqual(
      unknownChat,
    );
    expect(await app.getJson(`/api/application/x/chat/${chatId}/chat_record/${id}`)).toEqual(unknownChat);
    expect(await app.getJson(`${app.recordsOf("1' or 1=1")}/${id}`)).toEqual(unknownChat);
    expect(await app.getJson(`${app.recordsOf(otherChat)}/${id}`)).toEqual(unknownRecord);
    expect(await app.getJson(`${app.recordsOf(chatId)}/1`)).toEqual(unknownRecord);
    const asked = await app.ask(strangersChat, { message: QUESTION });
    expect(asked.status).toBe(500);
    expect(await asked.text()).toBe(await (await app.ask(UNKNOWN_ID, { message: QUESTION })).text());
  });
  it('lists applications, and each of them in full, with times of one format', async () => {
    const { data } = await app.getJson('/api/application');
    const [first] = data as Record<string, unknown>[];

    expect(first).toMatchObject({
      id: app.applicationId,
      type: 'SIMPLE',
      dialogue_number: 5,
      dataset_id_list: [expect.any(String)],
      dataset_setting: { top_n: 5, search_mode: 'blend' },
      model_setting: { reasoning_content_enable: false },
    });
    expect(first?.['create_time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await app.getJson(`/api/application/${app.applicationId}`)).data).toEqual(first);
  });
});
