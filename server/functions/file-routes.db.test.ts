import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { functionFile } from '../../contract/function-file.ts';
import { functionLib } from '../../contract/functions.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../observability/log.ts';
import { type AskApp, functionPorts, startAskApp, TEST_TOKEN } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { FakePythonSandbox } from '../testing/fake-python-sandbox.ts';
import { functionBody, OTHER, OWNER } from '../testing/functions.ts';
import type { Caller } from './function-access.ts';

const SECRET = 'sk-live-0123456789';
const KEY_FIELD = { field: 'key', input_type: 'PasswordInput', label: 'Key', default_value: 'sk-default-1' };

describeOnDatabases('functions as files', (open) => {
  let database: Database;
  let ask: AskApp;
  let app: FastifyInstance;
  let caller: Caller = OWNER;

  beforeAll(async () => {
    database = await open();
    const ports = functionPorts(database, {
      sandbox: new FakePythonSandbox(),
      log: createLog('silent'),
      shutdown: new AbortController().signal,
    });
    ask = await startAskApp(database, { deps: { functions: ports, callerOf: () => caller } });
    app = ask.app;
  });
  beforeEach(async () => {
    await database.query('delete from max_kb_function_lib');
    caller = OWNER;
  });
  afterAll(() => ask.close());

  const headers = { authorization: TEST_TOKEN, 'accept-language': 'en-US' };

  async function create(changes: object = {}): Promise<string> {
    const payload = { ...functionBody(), init_field_list: [KEY_FIELD], ...changes };
    const response = await app.inject({ method: 'POST', url: '/api/function_lib', headers, payload });
    const { id } = functionLib.parse(response.json().data);
    const change = { init_params: { key: SECRET } };
    await app.inject({ method: 'PUT', url: `/api/function_lib/${id}`, headers, payload: change });
    return id;
  }

  const exported = (id: string) => app.inject({ method: 'GET', url: `/api/function_lib/${id}/export`, headers });

  function upload(content: string | Buffer, field = 'file') {
    const head = `--edge\r\ncontent-disposition: form-data; name="${field}"; filename="a.fx"\r\n\r\n`;
    return app.inject({
      method: 'POST',
      url: '/api/function_lib/import',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=edge' },
      payload: Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n--edge--\r\n')]),
    });
  }

  it('R111 R115 gives a function as a file without init values, and takes it back as a new one of the caller', async () => {
    const id = await create({ name: '发票 (1)', permission_type: 'PUBLIC' });

    const file = await exported(id);
    caller = OTHER;
    const same = await exported(id);
    const answer = await upload(file.rawPayload);

    expect(file.headers['content-disposition']).toContain("filename*=UTF-8''%E5%8F%91%E7%A5%A8%20%281%29.fx");
    expect(file.body).not.toMatch(/sk-/);
    expect(same.body).toBe(file.body);
    expect(functionFile.parse(file.json()).function).toMatchObject({ name: '发票 (1)', code: functionBody().code });
    expect(answer.json()).toMatchObject({ code: 200, data: true });
    const list = await app.inject({ method: 'GET', url: `/api/function_lib?select_user_id=${OTHER.id}`, headers });
    expect(list.json().data).toMatchObject([
      { name: '发票 (1)', user_id: OTHER.id, permission_type: 'PRIVATE', is_active: false, init_params: null },
    ]);
  });

  it('R73 gives no file of a PRIVATE function to others, and none of anything to visitors', async () => {
    const id = await create();
    caller = OTHER;
    expect((await exported(id)).json()).toMatchObject({ code: 404 });

    caller = { ...OTHER, role: 'VISITOR' };
    expect((await exported(id)).statusCode).toBe(403);
    expect((await upload('{}')).statusCode).toBe(403);
  });

  const content = { name: 'f', code: 'def f(): pass', input_field_list: [] };
  const file = (changes: object) =>
    JSON.stringify({ format: 'knowhy.function', version: 1, function: content, ...changes });
  it.each<[string, string | Buffer, number, string]>([
    ['text', 'def f(): pass', 1001, 'no function file'],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), 1001, 'no function file'],
    ['nothing', '', 1001, 'no function file'],
    ['a pickle', Buffer.from([0x80, 4, 0x95]), 1001, 'a Python pickle'],
    ['another version', file({ version: 2 }), 1001, 'no function file'],
    [
      'a key that reaches the prototype',
      file({}).replace('"name"', '"__proto__":{"a":1},"name"'),
      1001,
      'no function file',
    ],
    [
      'levels without end',
      file({ more: 0 }).replace('0', `${'['.repeat(200_000)}${']'.repeat(200_000)}`),
      1001,
      'no function file',
    ],
    ['too much', 'x'.repeat(950 * 1024), 1001, 'more than'],
    ['no code', file({ function: { ...content, code: ' ' } }), 500, 'blank'],
  ])('refuses %s and stores nothing', async (_name, sent, code, words) => {
    expect((await upload(sent)).json()).toMatchObject({ code, message: expect.stringContaining(words) });

    expect(await database.query('select 1 from max_kb_function_lib')).toEqual([]);
  });

  it('refuses a body without a file, and one that breaks off', async () => {
    const post = (type: string, payload: string) =>
      app.inject({
        method: 'POST',
        url: '/api/function_lib/import',
        headers: { ...headers, 'content-type': type },
        payload,
      });
    const missing = { code: 500, message: expect.stringContaining('send a .fx file') };

    expect((await post('application/json', '{}')).json()).toMatchObject(missing);
    expect((await post('multipart/form-data; boundary=edge', '--edge--\r\n')).json()).toMatchObject(missing);
    expect((await post('multipart/form-data', 'x')).json()).toMatchObject(missing);
    expect(
      (
        await post(
          'multipart/form-data; boundary=edge',
          '--edge\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n{',
        )
      ).json(),
    ).toMatchObject(missing);
  });
});
