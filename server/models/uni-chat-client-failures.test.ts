import { describe, expect, it } from 'vitest';
import { buildModelRequest } from '../testing/model-request.ts';
import { modelErrorOf, startScriptedClient, testApiKey, until, waysOfAsking } from '../testing/scripted-client.ts';
import * as script from '../testing/scripted-steps.ts';

describe.each(waysOfAsking)('%s', (way, ask) => {
  it.each([429, 500, 503, 408])('tries again after %d', async (code) => {
    const { server, client } = await startScriptedClient([
      script.status(code),
      script.status(code),
      script.reply('好'),
    ]);

    expect((await ask(client)).content).toBe('好');
    expect(server.requests).toHaveLength(3);
  });

  it('gives up after maxRetries', async () => {
    const { server, client } = await startScriptedClient(() => script.status(503), { maxRetries: 1 });

    const error = await modelErrorOf(ask(client));

    expect(error).toMatchObject({ code: 'unavailable', status: 503, retryable: true });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [400, {}, 'bad_request'],
    [401, {}, 'unauthorized'],
    [402, {}, 'rate_limited'],
    [403, {}, 'unauthorized'],
    [404, {}, 'bad_request'],
    [413, {}, 'context_length'],
    [400, { body: '{"error":{"code":"context_length_exceeded","message":"too long"}}' }, 'context_length'],
    [429, { body: '{"error":{"code":"insufficient_quota"}}' }, 'rate_limited'],
    [501, {}, 'unavailable'],
  ] as const)('does not try again after %d %j', async (code, options, expected) => {
    const { server, client } = await startScriptedClient(() => script.status(code, options));

    const error = await modelErrorOf(ask(client));

    expect(error).toMatchObject({ code: expected, status: code, retryable: false });
    // The stream option may be the reason of an unexplained 400, so that one is tried without it.
    expect(server.requests).toHaveLength(way === 'streamOpenAi' && expected === 'bad_request' && code === 400 ? 2 : 1);
  });

  it.each([
    ['retry-after-ms', { retryAfterMs: 120 }, 110],
    ['seconds', { retryAfter: '0.2' }, 190],
  ])('obeys Retry-After in %s', async (_form, options, atLeastMs) => {
    const { server, client } = await startScriptedClient([script.status(429, options), script.reply('好')]);

    await ask(client);

    const [first, second] = server.requests.map(({ startedAt }) => startedAt);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(atLeastMs);
  });

  it('fails at once where it should wait too long, and says so', async () => {
    const { server, client } = await startScriptedClient(() => script.status(429, { retryAfter: 120 }));

    const error = await modelErrorOf(ask(client));

    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 120_000 });
    expect(error.message).toContain('wait 120 s');
    expect(server.requests).toHaveLength(1);
  });

  it('R22 an abort closes the upstream connection within a second', async () => {
    const { server, client } = await startScriptedClient([script.hang()]);
    const controller = new AbortController();
    const result = modelErrorOf(ask(client, { signal: controller.signal }));
    await until(() => server.requests.length === 1, 1_000);

    controller.abort();

    expect((await result).code).toBe('aborted');
    await until(() => server.requests[0]?.aborted === true, 1_000);
  });

  it('R22 an abort in the middle of the body closes the upstream connection', async () => {
    const { server, client } = await startScriptedClient([script.hangAfter(1)]);
    const controller = new AbortController();
    const result = modelErrorOf(ask(client, { signal: controller.signal }));
    await new Promise((resolve) => setTimeout(resolve, 100));

    controller.abort();

    expect((await result).code).toBe('aborted');
    await until(() => server.requests[0]?.aborted === true, 1_000);
  });

  it('an abort ends the wait before a retry', async () => {
    const { server, client } = await startScriptedClient(() => script.status(429, { retryAfter: 20 }));
    const controller = new AbortController();
    const result = modelErrorOf(ask(client, { signal: controller.signal }));
    await until(() => server.requests.length === 1, 1_000);

    controller.abort();

    expect((await result).code).toBe('aborted');
    expect(server.requests).toHaveLength(1);
  });

  it('asks nothing when it is aborted already', async () => {
    const { server, client } = await startScriptedClient([script.reply('好')]);

    const error = await modelErrorOf(ask(client, { signal: AbortSignal.abort() }));

    expect(error.code).toBe('aborted');
    expect(server.requests).toHaveLength(0);
  });

  it('times out when no headers come, without a second try', async () => {
    const { server, client } = await startScriptedClient(() => script.hang(), { timeouts: { headersMs: 80 } });

    const error = await modelErrorOf(ask(client));

    expect(error).toMatchObject({ code: 'timeout', retryable: true });
    await until(() => server.requests[0]?.aborted === true, 1_000);
    expect(server.requests).toHaveLength(1);
  });

  it('times out when the body stalls', async () => {
    const { server, client } = await startScriptedClient(() => script.hangAfter(2), { timeouts: { idleMs: 80 } });

    const error = await modelErrorOf(ask(client));

    expect(error.code).toBe('timeout');
    await until(() => server.requests[0]?.aborted === true, 1_000);
  });

  it('times out when the whole call takes too long', async () => {
    const slow = script.reply('a long answer that comes slowly', { chunkSize: 1, delayMs: 60 });
    const { client } = await startScriptedClient(() => slow, { timeouts: { totalMs: way === 'generate' ? 40 : 150 } });

    expect((await modelErrorOf(ask(client))).code).toBe('timeout');
  });

  it('calls a body that is not of the protocol bad_response', async () => {
    const { client } = await startScriptedClient([
      script.nonJson(),
      script.htmlError(),
      script.htmlError(404),
      { kind: 'raw', contentType: 'application/json', body: '{"code":"50001"}' },
    ]);

    for (let i = 0; i < 4; i += 1) expect((await modelErrorOf(ask(client))).code).toBe('bad_response');
  });

  it('translates an error object that came with status 200', async () => {
    const tooLong = { message: "This model's maximum context length is 10 tokens" };
    const { client } = await startScriptedClient([
      script.errorInStream(0, tooLong),
      script.errorInStream(0, '余额不足'),
    ]);

    expect((await modelErrorOf(ask(client))).code).toBe('context_length');
    expect(await modelErrorOf(ask(client))).toMatchObject({ code: 'rate_limited', retryable: false });
  });

  it('calls a service that cannot be reached unavailable', async () => {
    const { server, client } = await startScriptedClient([]);
    await server.close();

    const error = await modelErrorOf(ask(client));

    expect(error).toMatchObject({ code: 'unavailable', retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('never shows the key or the upstream body', async () => {
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${testApiKey}. upstream-words` } });
    const { client } = await startScriptedClient([script.status(401, { body })]);

    const error = await modelErrorOf(ask(client));

    expect(error.message).not.toContain('upstream-words');
    expect(error.cause).toMatchObject({ message: expect.stringContaining('[key]') });
    expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(testApiKey);
  });

  it('reports a key that cannot be sent without showing it', async () => {
    const { client } = await startScriptedClient([], { apiKey: '密钥-secret' });

    const error = await modelErrorOf(ask(client));

    expect(error.code).toBe('bad_request');
    expect(`${error.message} ${String(error.cause)}`).not.toContain('secret');
  });

  it('reports an address that is none', async () => {
    const { client } = await startScriptedClient([], { baseUrl: 'not an address' });

    expect((await modelErrorOf(ask(client))).message).toContain('Check the address');
  });

  it('uses connections again', async () => {
    const { server, client } = await startScriptedClient(() => script.reply('好'));

    for (let i = 0; i < 8; i += 1) await ask(client);

    expect(server.connectionCount).toBeLessThan(4);
  });

  it('leaves no timer and no listener behind', async () => {
    const { client } = await startScriptedClient((request) =>
      JSON.stringify(request.body).includes('fail') ? script.status(500) : script.reply('好'),
    );
    const controller = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = controller.signal;
    controller.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(controller.signal, args);
    };
    controller.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(controller.signal, args);
    };

    await ask(client, { signal: controller.signal });
    await modelErrorOf(ask(client, { signal: controller.signal, messages: [{ role: 'user', content: 'fail' }] }));

    expect(listeners).toBe(0);
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBeLessThanOrEqual(2);
  });
});

describe('generate alone', () => {
  it('obeys Retry-After as a date', async () => {
    const retryAfter = new Date(Date.now() + 1_900).toUTCString();
    const { server, client } = await startScriptedClient([script.status(429, { retryAfter }), script.reply('好')]);

    await client.generate(buildModelRequest());

    expect(server.requests[1]?.startedAt).toBeGreaterThanOrEqual(Date.parse(retryAfter) - 20);
  });
});
