import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApplicationStore } from '../applications/application-store.ts';
import type { AskPorts } from '../chat/ask-question.ts';
import { ChatStore } from '../chat/chat-store.ts';
import { ContextStore } from '../chat/context/context-store.ts';
import { EventStore } from '../chat/event-store.ts';
import { InProcessSessionLock } from '../chat/session-lock.ts';
import type { Database } from '../database/database.ts';
import { OfflineChatModel } from '../models/offline/offline-chat-model.ts';
import { functionPorts } from '../testing/ask-app.ts';
import { FakePythonSandbox } from '../testing/fake-python-sandbox.ts';
import { type AppDeps, createApp } from './create-app.ts';

const TOKEN = 'a-token-for-these-tests';
const UNKNOWN_ID = '0190a000-0000-7000-8000-00000000ffff';

/** Has no rows; `failing` makes every statement fail. */
const database: Database & { failing: boolean } = {
  failing: false,
  engine: 'pglite',
  async query() {
    if (this.failing) throw new Error('secret detail of the database');
    return [];
  },
  transaction: (work) => work(),
  close: async () => undefined,
};

function deps(): AppDeps {
  const model = new OfflineChatModel((text) => text.split(' '));
  const log = pino({ level: 'silent' });
  const ask: AskPorts = {
    store: new ChatStore(database),
    applications: new ApplicationStore(database),
    contexts: new ContextStore(database),
    events: new EventStore(database),
    lock: new InProcessSessionLock(),
    search: async () => [],
    models: { answer: model, auxiliary: model },
    limits: { maxRounds: 3, evidenceTokens: 1000, recentTokens: 1000, contextTokens: 8192, maxTokens: 512 },
    shutdown: new AbortController().signal,
    running: new Set(),
    log,
  };
  return {
    ask,
    functions: functionPorts(database, { sandbox: new FakePythonSandbox(), log, shutdown: ask.shutdown }),
    token: TOKEN,
    agentStatus: true,
    version: '1.2.3',
    offline: { chat: true, embedding: false },
    log,
  };
}

let app: FastifyInstance;
beforeAll(async () => {
  app = await createApp(deps());
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

// A listening TCP server has an address with a port.
const port = () => (app.server.address() as AddressInfo).port;

function get(url: string, headers: Record<string, string> = {}) {
  return app.inject({ url, headers: { authorization: TOKEN, ...headers } });
}

function post(url: string, payload: string | Buffer, headers: Record<string, string> = {}) {
  const all = { authorization: TOKEN, 'content-type': 'application/json', ...headers };
  return app.inject({ method: 'POST', url, payload, headers: all });
}

const ASK = `/api/application/chat_message/${UNKNOWN_ID}`;

describe('the envelope', () => {
  it('has a content type without charset and a message in the language of the request', async () => {
    const chinese = await get('/api/application');
    const english = await get('/api/application', { 'accept-language': 'en-US' });

    expect(chinese.headers['content-type']).toBe('application/json');
    expect(chinese.json()).toEqual({ code: 200, message: '成功', data: [] });
    expect(english.json()).toEqual({ code: 200, message: 'Success', data: [] });
  });

  it.each([
    ['an unknown address', () => get('/api/nothing'), 404, 404],
    [
      'a page that is no number',
      () => get(`/api/application/${UNKNOWN_ID}/chat/${UNKNOWN_ID}/chat_record/a/b`),
      404,
      404,
    ],
    ['a wrong method', () => app.inject({ method: 'DELETE', url: '/api/application' }), 404, 404],
    ['an address that cannot be decoded', () => get('/api/%E0%A4%A'), 400, 400],
    ['malformed JSON', () => post(ASK, '{"message":'), 200, 500],
    ['an empty body', () => post(ASK, ''), 200, 500],
    ['null', () => post(ASK, 'null'), 200, 500],
    ['a poisoned prototype', () => post(ASK, '{"__proto__":{"a":1},"message":"x"}'), 200, 500],
    ['another media type', () => post(ASK, 'message=x', { 'content-type': 'text/plain' }), 415, 415],
    ['a huge body', () => post(ASK, Buffer.alloc(3 << 20, 32)), 413, 413],
    ['a blank question', () => post(ASK, '{"message":" \\n "}'), 200, 422],
    ['an unknown chat', () => post(ASK, '{"message":"x"}'), 500, 500],
    ['an id that is none', () => post('/api/application/chat_message/1', '{"message":"x"}'), 500, 500],
    ['an unknown application', () => get(`/api/application/${UNKNOWN_ID}`), 200, 404],
    ['an application id that is none', () => get('/api/application/1'), 200, 404],
    ['a chat of an unknown application', () => get(`/api/application/${UNKNOWN_ID}/chat/open`), 200, 404],
    ['an unknown record', () => get(`/api/application/${UNKNOWN_ID}/chat/${UNKNOWN_ID}/chat_record/x`), 200, 404],
    ['page 0', () => get(`/api/application/${UNKNOWN_ID}/chat/${UNKNOWN_ID}/chat_record/0/20`), 200, 500],
    [
      'a page beyond all numbers',
      () => get(`/api/application/${UNKNOWN_ID}/chat/${UNKNOWN_ID}/chat_record/${'9'.repeat(40)}/20`),
      200,
      500,
    ],
  ])('wraps %s', async (_what, request, status, code) => {
    const response = await request();

    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.json()).toEqual({ code, message: expect.stringMatching(/./), data: null });
    expect(response.body).not.toMatch(/ at |node_modules|FST_/);
  });

  it('names the first wrong field', async () => {
    const chinese = await post(ASK, '{"message":3,"stream":"yes"}');
    const english = await post(ASK, '{"message":"x","stream":"yes"}', { 'accept-language': 'en' });

    expect(chinese.json().message).toMatch(/^message：无效输入/);
    expect(english.json().message).toMatch(/^stream: Invalid input: expected boolean/);
  });

  it('says how long a question is that is too long', async () => {
    const response = await post(ASK, JSON.stringify({ message: '问题 '.repeat(9000) }));

    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      code: 413,
      message: expect.stringMatching(/约 \d{4,} 个词元，最多 4000 个/),
    });
  });

  it('answers what nobody foresaw with an id and no detail', async () => {
    database.failing = true;
    const business = await get('/api/application', { 'accept-language': 'en' });
    const chat = await post(ASK, '{"message":"x"}');
    database.failing = false;

    expect(business.statusCode).toBe(200);
    expect(business.json()).toMatchObject({ code: 500, message: expect.stringMatching(/under [0-9a-f-]{36}\.$/) });
    expect(chat.statusCode).toBe(500);
    expect(business.body + chat.body).not.toContain('secret');
  });

  it('wraps bytes that are no HTTP', async () => {
    const answer = await sendBytes('NOT HTTP AT ALL\r\n\r\n');

    expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*Content-Type: application\/json\r\n[\s\S]*"code":400/);
  });

  it('lets a client that sends a huge body read the answer', async () => {
    const response = await fetch(`http://127.0.0.1:${port()}${ASK}`, {
      method: 'POST',
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'x'.repeat(20 << 20) }),
    });

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 413 });
  });
});

describe('who may ask', () => {
  it('wants a token everywhere but on the page, the profile and the health check', async () => {
    const addresses = [
      '/api/application',
      `/api/application/${UNKNOWN_ID}`,
      `/api/application/${UNKNOWN_ID}/chat/open`,
    ];
    for (const url of addresses) {
      const response = await app.inject({ url });
      expect(response.statusCode).toBe(401);
      expect(response.json()).toMatchObject({ code: 1003, data: null });
    }
    for (const url of ['/ui/', '/ui/ask.js', '/api/profile', '/healthz']) {
      expect((await app.inject({ url })).statusCode).toBe(200);
    }
  });

  it.each([
    ['bare', TOKEN, 200],
    ['after Bearer', `Bearer ${TOKEN}`, 200],
    ['wrong', `${TOKEN}x`, 401],
    ['cut', TOKEN.slice(1), 401],
    ['without the token', 'Bearer ', 401],
  ])('takes a token %s', async (_how, authorization, status) => {
    const response = await get('/api/application', { authorization });

    expect(response.statusCode).toBe(status);
    if (authorization.trim() !== 'Bearer' && status === 401) expect(response.json().code).toBe(1002);
  });

  it('refuses a token that could be guessed', async () => {
    await expect(createApp({ ...deps(), token: 'short' })).rejects.toThrow(/16 characters/);
  });

  it.each([
    ['localhost', 200],
    ['LocalHost:PORT', 200],
    ['127.0.0.1:PORT', 200],
    ['[::1]:PORT', 200],
    ['127.0.0.1:1', 403],
    ['localhost.evil.example', 403],
    ['evil.example:PORT', 403],
    ['', 400],
  ])('answers Host "%s" with %i', async (host, status) => {
    const answer = await sendBytes(
      `GET /api/profile HTTP/1.1\r\n${host ? `Host: ${host.replace('PORT', String(port()))}\r\n` : ''}Connection: close\r\n\r\n`,
    );

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it.each([
    ['http://localhost:80', 200],
    ['https://evil.example', 403],
    ['null', 403],
    ['http://127.0.0.1:80', 403],
  ])('answers Origin %s with %i', async (origin, status) => {
    const response = await get('/api/application', { host: 'localhost:80', origin });

    expect(response.statusCode).toBe(status);
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('the system routes', () => {
  it('tells version, edition and what is offline', async () => {
    const response = await app.inject({ url: '/api/profile' });

    expect(response.json().data).toEqual({
      version: '1.2.3',
      IS_XPACK: false,
      XPACK_LICENSE_IS_VALID: false,
      offline: { chat: true, embedding: false },
    });
    expect((await app.inject({ url: '/healthz' })).json()).toEqual({ ok: true });
  });

  it('does not open a chat for HEAD', async () => {
    const response = await app.inject({ method: 'HEAD', url: `/api/application/${UNKNOWN_ID}/chat/open` });

    expect(response.statusCode).toBe(404);
  });
});

describe('closing', () => {
  it('does not wait for a connection that never carries a request', async () => {
    const other = await createApp(deps());
    await other.listen({ host: '127.0.0.1', port: 0 });
    // A listening TCP server has an address with a port.
    const socket = connect((other.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);

    const startedMs = performance.now();
    await other.close();

    expect(performance.now() - startedMs).toBeLessThan(10_000);
    socket.destroy();
  });
});

describe('the files of the page', () => {
  it('serves page, modules and libraries with their types and a policy', async () => {
    const page = await app.inject({ url: '/ui/' });
    const library = await app.inject({ url: '/ui/vendor/markdown-it.js' });
    const again = await app.inject({ url: '/ui/', headers: { 'if-none-match': String(page.headers.etag) } });

    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(library.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(again.statusCode).toBe(304);
    expect((await app.inject({ url: '/' })).headers.location).toBe('/ui/');
  });

  it.each([
    '/ui/../package.json',
    '/ui/%2e%2e/package.json',
    '/ui/..%2fpackage.json',
    '/ui/vendor/..%5c..%5cpackage.json',
    '/ui/vendor/',
    '/ui/ask.js%00.html',
    '/ui//etc/passwd',
  ])('serves nothing at %s', async (url) => {
    expect((await app.inject({ url })).statusCode).toBe(404);
  });

  it('serves every module that the modules import', async () => {
    const found = new Set(['ask.js']);
    for (const name of found) {
      const response = await app.inject({ url: `/ui/${name}` });
      expect(response.statusCode, name).toBe(200);
      for (const [, imported] of response.body.matchAll(/^import .* from '\.\/(.+)';$/gm)) found.add(String(imported));
    }
    expect(found.size).toBeGreaterThan(8);
  });
});

/** Sends raw bytes and returns everything that comes back. */
function sendBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port(), '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (piece) => {
      text += piece;
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}
