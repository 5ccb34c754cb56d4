import { request as httpRequest } from 'node:http';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { functionAnswer, functionLib, lintProblem } from '../../contract/functions.ts';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import { type AskApp, functionPorts, startAskApp, TEST_TOKEN } from '../testing/ask-app.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { FakePythonSandbox } from '../testing/fake-python-sandbox.ts';
import { functionBody, inputField, OTHER, OWNER } from '../testing/functions.ts';
import type { Caller } from './function-access.ts';
import { SandboxError } from './sandbox-error.ts';

const SECRET = 'sk-live-0123456789';
const MASKED = 'sk-live***************6789';
const UNKNOWN_ID = '0190a000-0000-7000-8000-00000000ffff';
const KEY_FIELD = { field: 'key', input_type: 'PasswordInput', label: 'Key', required: true, default_value: '' };

interface Answer {
  status: number;
  body: { code: number; message: string; data: unknown };
}

describeOnDatabases('the function library over HTTP', (open) => {
  let database: Database;
  let sandbox: FakePythonSandbox;
  let ask: AskApp;
  let app: FastifyInstance;
  let logged = '';
  let shutdown: AbortController;
  /** Who the requests come from; null for the local user. */
  let caller: Caller | null = null;

  beforeAll(async () => {
    database = await open();
    sandbox = new FakePythonSandbox();
    shutdown = new AbortController();
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        logged += String(chunk);
        done();
      },
    });
    const log = pino({ level: 'trace' }, sink);
    ask = await startAskApp(database, {
      deps: {
        log,
        functions: functionPorts(database, { sandbox, log, shutdown: shutdown.signal }),
        callerOf: (request) => caller ?? { id: request.clientId, role: 'ADMIN' },
      },
    });
    app = ask.app;
  });
  beforeEach(async () => {
    await database.query('delete from max_kb_function_lib');
    sandbox.runs.length = 0;
    sandbox.onRun = () => ({ kind: 'value', value: 3 });
    caller = null;
  });
  afterAll(() => ask.close());

  async function send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: unknown, language = 'en-US') {
    const response = await app.inject({
      method,
      url: `/api/function_lib${path}`,
      headers: {
        authorization: TEST_TOKEN,
        'accept-language': language,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    });
    const answer: Answer = { status: response.statusCode, body: response.json() };
    return answer;
  }

  async function create(changes: object = {}): Promise<string> {
    const { body } = await send('POST', '', { ...functionBody(), ...changes });
    return functionLib.parse(body.data).id;
  }

  it('needs the token, like every other path', async () => {
    for (const url of ['/api/function_lib', '/api/function_lib/1/30', `/api/function_lib/${UNKNOWN_ID}`])
      expect((await app.inject({ url })).statusCode).toBe(401);
    expect((await app.inject({ method: 'POST', url: '/api/function_lib/debug', payload: {} })).statusCode).toBe(401);
  });

  it('R111 creates, reads, changes, lists and deletes in the shapes of the contract', async () => {
    const created = await send('POST', '', {
      ...functionBody({ desc: '两个数' }),
      icon: '/ignored.png',
      is_active: true,
    });
    const made = functionLib.strict().parse(created.body.data);
    const { id } = made;

    expect(made).toMatchObject({
      is_active: false,
      icon: '/ui/favicon.ico',
      user_id: LOCAL_USER_ID,
      init_params: null,
    });
    expect(made.create_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await send('GET', `/${id}`)).body.data).toEqual(made);
    expect((await send('PUT', `/${id}`, { name: '新', desc: null, is_active: true })).body).toMatchObject({
      code: 200,
      data: { name: '新', desc: '两个数', is_active: true },
    });
    expect((await send('GET', '?name=%E6%96%B0&function_type=PUBLIC&desc=&select_user_id=')).body.data).toMatchObject([
      { id },
    ]);
    expect((await send('GET', '/1/30?function_type=PUBLIC')).body.data).toMatchObject({
      total: 1,
      current: 1,
      size: 30,
      records: [{ id, init_params: null }],
    });
    expect((await send('GET', `?name=${encodeURIComponent("%' or 1=1")}&desc=%00`)).body).toMatchObject({
      code: 200,
      data: [],
    });
    expect((await send('GET', '?select_user_id=x')).body.data).toEqual([]);
    const headers = { authorization: TEST_TOKEN, 'content-type': 'application/json', 'accept-language': 'en' };
    const deleted = await app.inject({ method: 'DELETE', url: `/api/function_lib/${id}`, headers });
    expect(deleted.json()).toEqual({ code: 200, message: 'Success', data: true });
    expect((await send('GET', `/${id}`)).body).toEqual({
      code: 404,
      message: 'This function does not exist.',
      data: null,
    });
  });

  it.each<[string, object, RegExp]>([
    ['no name', { name: undefined }, /^name: /],
    ['a long name', { name: 'n'.repeat(129) }, /^name: /],
    ['a blank name', { name: ' ' }, /name .* is blank/],
    ['no code', { code: undefined }, /^code: /],
    ['long code', { code: 'x'.repeat(65_537) }, /65537 bytes/],
    ['no fields', { input_field_list: undefined }, /^input_field_list: /],
    ['an unknown type', { input_field_list: [{ name: 'a', type: 'boolean' }] }, /^input_field_list\.0\.type: /],
    ['a nameless field', { input_field_list: [{ name: ' ', type: 'int' }] }, /^input_field_list\.0\.name: /],
    ['a field twice', { input_field_list: [inputField('a'), inputField('a')] }, /"a" is declared twice/],
    ['an unknown permission', { permission_type: 'ALL' }, /^permission_type: /],
    ['a number for a name', { name: 5 }, /^name: /],
  ])('names what is wrong: %s', async (_case, changes, message) => {
    const { status, body } = await send('POST', '', { ...functionBody(), ...changes });

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { code: 500, message: expect.stringMatching(message), data: null },
    });
  });

  it('R113 answers an execution with the value, and every wrong parameter by name', async () => {
    const id = await create({
      input_field_list: [inputField('a', { type: 'int' }), inputField('d', { type: 'dict', is_required: false })],
    });
    const execute = async (payload: unknown) =>
      functionAnswer.strict().parse((await send('POST', `/${id}/execute`, payload)).body);

    expect(await execute({ params: { a: 1 } }).catch(() => 'no answer of a run')).toBe('no answer of a run');
    expect((await send('POST', `/${id}/execute`, {})).body).toMatchObject({
      code: 500,
      message: expect.stringContaining('not active'),
    });
    await send('PUT', `/${id}`, { is_active: true });
    expect(await execute({ params: { a: '２', d: '{"k":[1]}' } })).toEqual({
      code: 200,
      message: 'Success',
      data: 3,
      logs: { stdout: '', stderr: '' },
      error: null,
    });
    expect(sandbox.runs[0]?.arguments).toEqual({ a: 2, d: { k: [1] } });
    expect(await execute({})).toMatchObject({ code: 500, message: 'The parameter "a" is required.', data: null });
    expect((await send('POST', `/${id}/execute`)).body.message).toBe('The parameter "a" is required.');
    expect(await execute({ params: { a: 'NaN' } })).toMatchObject({
      message: 'The parameter "a" should be of type int; it is: NaN',
      error: { type: 'function_parameter_wrong', line: null },
    });
    expect(await execute({ params: { a: '9'.repeat(20) } })).toMatchObject({
      error: { type: 'function_parameter_inexact' },
    });
    expect(await execute({ params: { a: 1, d: '[]' } })).toMatchObject({
      message: expect.stringContaining('"d" should be of type dict'),
    });
    expect(await execute({ params: { a: 1, z: 1 } })).toMatchObject({ message: 'The function has no parameter "z".' });
    expect((await send('POST', `/${id}/execute`, { a: 1 })).body.code).toBe(500);
    expect(sandbox.runs).toHaveLength(1);
  });

  it('refuses what would poison an object or is nested without end, as a request', async () => {
    const id = await create();
    const raw = (payload: string) =>
      app.inject({
        method: 'POST',
        url: `/api/function_lib/${id}/execute`,
        headers: { authorization: TEST_TOKEN, 'content-type': 'application/json' },
        payload,
      });

    for (const payload of [
      '{"params":{"__proto__":{"a":1}}}',
      `{"params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    ]) {
      const response = await raw(payload);
      expect([200, 400]).toContain(response.statusCode);
      expect(response.json().code).not.toBe(200);
      expect(response.json().message).not.toContain('日志编号');
    }
  });

  it('R92 debugs with the body that MaxKB’s editor sends, and says what was printed', async () => {
    sandbox.onRun = () => ({ kind: 'value', value: { a: [1] }, stdout: 'printed\n', outputTruncated: true });
    const body = {
      code: 'def f(n, key):\n    return n',
      entrypoint: 'f',
      debug_field_list: [{ name: 'n', value: '7', type: 'int', is_required: true, source: 'reference' }],
      input_field_list: [{ name: 'n', type: 'int', is_required: true, source: 'reference' }],
      init_field_list: [KEY_FIELD],
      init_params: { key: SECRET },
    };

    const { body: answer } = await send('POST', '/debug', body);

    expect(functionAnswer.strict().parse(answer)).toMatchObject({
      code: 200,
      data: { a: [1] },
      logs: { stdout: 'printed\n', stderr: '', truncated: true },
    });
    expect(sandbox.runs[0]).toMatchObject({ entrypoint: 'f', arguments: { n: 7, key: SECRET }, code: body.code });
  });

  it('R103 says what to do where there is no sandbox, in both languages, as a failed debug', async () => {
    sandbox.onRun = () => {
      throw new SandboxError('sandbox_unavailable', 'Cannot connect to unix:///run/docker.sock');
    };
    sandbox.onCheck = () => {
      throw new SandboxError('sandbox_busy', 'busy');
    };
    const payload = { code: 'def f(): pass' };

    const english = await send('POST', '/debug', payload);
    const chinese = await send('POST', '/debug', payload, 'zh-CN');
    const lint = await send('POST', '/pylint', payload);

    expect(english).toMatchObject({ status: 200, body: { code: 500, error: { type: 'sandbox_unavailable' } } });
    expect(english.body.message).toMatch(/install and start Docker/);
    expect(chinese.body.message).toMatch(/安装并启动 Docker/);
    expect(JSON.stringify([english, chinese])).not.toContain('docker.sock');
    expect(lintProblem.array().parse(lint.body.data)).toMatchObject([
      { type: 'warning', message: expect.stringContaining('not checked') },
    ]);
  });

  it('R111 checks syntax for the editor, and has nothing to say of no code', async () => {
    const place = { line: 1, column: 7, endLine: 1, endColumn: 8 };
    sandbox.onCheck = () => ({
      kind: 'checked',
      functions: [],
      problems: [{ ...place, severity: 'error', message: 'invalid syntax' }],
    });

    expect((await send('POST', '/pylint', { code: '' })).body).toMatchObject({ code: 200, data: [] });
    expect((await send('POST', '/pylint', { code: 'def f(:' })).body.data).toEqual([
      { line: 1, column: 6, endLine: 1, endColumn: 7, message: 'invalid syntax', type: 'error' },
    ]);
  });

  it('R115 shows a secret in no answer and no log, and keeps it when its mask comes back', async () => {
    const id = await create({ permission_type: 'PUBLIC', init_field_list: [KEY_FIELD] });
    const answers = [
      await send('PUT', `/${id}`, { init_params: { key: SECRET, undeclared: 1 }, is_active: true }),
      await send('GET', `/${id}`),
      await send('PUT', `/${id}`, { init_params: { key: MASKED } }),
      await send('PUT', `/${id}`, { init_params: { key: 'x***************y' } }),
      await send('GET', ''),
      await send('GET', '/1/10'),
    ];
    sandbox.onRun = ({ arguments: given }) => ({
      kind: 'exception',
      type: 'E',
      message: String(given['key']),
      line: 1,
      traceback: '',
    });
    caller = OTHER;
    answers.push(await send('GET', `/${id}`), await send('POST', `/${id}/execute`, { params: { a: 1 } }));

    expect(answers[1]?.body.data).toMatchObject({ init_params: { key: MASKED } });
    expect(answers[3]?.body).toMatchObject({ code: 500, message: expect.stringContaining('"key" is a masked value') });
    expect(answers[6]?.body.data).toMatchObject({ init_params: null });
    expect(answers[7]?.body).toMatchObject({ code: 500, error: { type: 'E' } });
    expect(sandbox.runs[0]?.arguments).toEqual({ a: 1, key: SECRET });
    expect(JSON.stringify(answers)).not.toContain(SECRET);
    expect(logged).not.toContain(SECRET);
    expect(logged.length).toBeGreaterThan(0);
  });

  it('R73 tells a visitor no, an owner yes, and others nothing of what is PRIVATE', async () => {
    caller = OWNER;
    const id = await create();
    const requests: [Parameters<typeof send>[0], string, unknown?][] = [
      ['GET', `/${id}`],
      ['PUT', `/${id}`, { name: 'x' }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/execute`, { params: {} }],
    ];
    const unknown = { status: 200, body: { code: 404, message: 'This function does not exist.', data: null } };

    caller = OTHER;
    for (const [method, path, payload] of requests) {
      expect(await send(method, path, payload)).toEqual(unknown);
      expect(await send(method, path.replace(id, UNKNOWN_ID), payload)).toEqual(unknown);
      expect(await send(method, path.replace(id, "1' or 1=1"), payload)).toEqual(unknown);
    }
    caller = { id: OWNER.id, role: 'VISITOR' };
    const all: typeof requests = [
      ...requests,
      ['GET', ''],
      ['GET', '/1/10'],
      ['POST', '', {}],
      ['POST', '/debug', {}],
      ['POST', '/pylint', {}],
    ];
    for (const [method, path, payload] of all)
      expect(await send(method, path, payload)).toEqual({
        status: 403,
        body: { code: 403, message: 'The function library is not open to visitors.', data: null },
      });
    caller = OWNER;
    await send('PUT', `/${id}`, { permission_type: 'PUBLIC' });
    caller = OTHER;
    expect(await send('PUT', `/${id}`, { name: 'x' })).toMatchObject({ status: 403, body: { code: 403 } });
    expect(await send('GET', `/${id}`)).toMatchObject({ body: { code: 200 } });
  });

  it('cancels the run of a client that leaves, not that of one that waits', async () => {
    let started: (signal: AbortSignal) => void = () => {};
    const running = new Promise<AbortSignal>((resolve) => {
      started = resolve;
    });
    sandbox.onRun = async ({ signal }) => {
      started(signal);
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
        setTimeout(resolve, 5000);
      });
      return { kind: 'cancelled' };
    };
    const request = httpRequest(`${ask.url}/api/function_lib/debug`, {
      method: 'POST',
      headers: { authorization: TEST_TOKEN, 'content-type': 'application/json' },
    });
    request.on('error', () => {});
    request.end(JSON.stringify({ code: 'def f(): pass' }));

    const signal = await running;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(signal.aborted).toBe(false);
    request.destroy();

    await expect.poll(() => signal.aborted).toBe(true);
  });

  it('cancels runs when the server stops', async () => {
    sandbox.onRun = async ({ signal }) => ({ kind: 'value', value: signal.aborted });
    shutdown.abort();

    expect((await send('POST', '/debug', { code: 'def f(): pass' })).body.data).toBe(true);
  });
});
