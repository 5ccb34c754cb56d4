import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedModelServer, startScriptedModelServer } from './scripted-model-server.ts';
import * as script from './scripted-steps.ts';

const servers: ScriptedModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(...args: Parameters<typeof startScriptedModelServer>): Promise<ScriptedModelServer> {
  const server = await startScriptedModelServer(...args);
  servers.push(server);
  return server;
}

function post(server: ScriptedModelServer, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), signal: signal ?? null });
}

describe('the scripted model server', () => {
  it('takes the steps of a list in turn, then says that it has none left', async () => {
    const server = await start({ chat: [script.reply('一'), script.truncated('二')] });

    const first = await (await post(server, '/chat/completions', {})).json();
    const second = await (await post(server, '/chat/completions', {})).json();
    const third = await post(server, '/chat/completions', {});

    expect(first).toMatchObject({ choices: [{ message: { content: '一' }, finish_reason: 'stop' }] });
    expect(second).toMatchObject({ choices: [{ message: { content: '二' }, finish_reason: 'length' }] });
    expect(third.status).toBe(501);
  });

  it('streams chunks of code points, with token counts only where asked for', async () => {
    const server = await start({ chat: () => script.reply('知识😀库', { chunkSize: 2 }) });

    const plain = await (await post(server, '/chat/completions', { stream: true })).text();
    const counted = await (
      await post(server, '/chat/completions', { stream: true, stream_options: { include_usage: true } })
    ).text();

    expect([...plain.matchAll(/"content":"([^"]+)"/g)].map((match) => match[1])).toEqual(['知识', '😀库']);
    expect(plain).not.toContain('usage');
    expect(plain.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(counted).toContain('"prompt_tokens":7');
  });

  it('sends think blocks and code fences', async () => {
    const server = await start({ chat: [script.thinkBlock('想', '答'), script.codeFence({ sufficient: true })] });

    expect(await (await post(server, '/chat/completions', {})).text()).toContain('<think>想</think>答');
    expect(await (await post(server, '/chat/completions', {})).text()).toContain('```json\\n{\\"sufficient\\":true}');
  });

  it('answers by function, with the request at hand', async () => {
    const server = await start({
      chat: ({ body }) => script.refuseField('thinking', { otherwise: script.reply(String(body['n'])) }),
    });

    expect((await post(server, '/chat/completions', { n: 1, thinking: {} })).status).toBe(400);
    expect(await (await post(server, '/chat/completions', { n: 2 })).text()).toContain('"content":"2"');
  });

  it('records requests and tells a client that went away from a connection it broke itself', async () => {
    const server = await start({ chat: [script.hangAfter(1), script.cutStream(1)] });
    const controller = new AbortController();
    const response = await post(server, '/chat/completions', { stream: true, a: 1 }, controller.signal);
    controller.abort();
    await expect(response.text()).rejects.toThrow();
    const cut = await post(server, '/chat/completions', { stream: true });
    await expect(cut.text()).rejects.toThrow('terminated');

    await expect.poll(() => server.requests.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: { a: 1 } });
    expect(server.requests[0]?.endedAt).toBeGreaterThanOrEqual(server.requests[0]?.startedAt ?? 0);
  });

  it('closes with connections that hang', async () => {
    const server = await startScriptedModelServer({ chat: () => script.reply('a', { delayMs: 60_000 }) });
    const slow = post(server, '/chat/completions', {}).catch(() => 'closed');
    await expect.poll(() => server.requests.length).toBe(1);

    await server.close();

    expect(await slow).toBe('closed');
  });

  it('embeds alike texts alike, the same way each time', async () => {
    const server = await start({ embeddings: { dimensions: 32 } });
    const input = ['如何重置密码', '重置密码的方法', 'rainfall'];

    const first = await (await post(server, '/embeddings', { input })).json();
    const again = await (await post(server, '/embeddings', { input })).json();

    expect(again).toEqual(first);
    expect(first).toMatchObject({ data: [{ index: 0 }, { index: 1 }, { index: 2 }] });
  });

  it('lists a model', async () => {
    const server = await start();

    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] });
  });
});
