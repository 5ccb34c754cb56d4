import { describe, expect, it } from 'vitest';
import { buildModelRequest } from '../testing/model-request.ts';
import { modelErrorOf, startScriptedClient, streamReply, until } from '../testing/scripted-client.ts';
import * as script from '../testing/scripted-steps.ts';

describe('streamOpenAi alone', () => {
  it('R22 passes deltas on in order', async () => {
    const { client } = await startScriptedClient([script.reply('知识库问答系统', { chunkSize: 2, reasoning: '想' })]);

    const { deltas } = await streamReply(client);

    expect(deltas).toEqual([
      { content: '', reasoningContent: '想' },
      { content: '知识', reasoningContent: '' },
      { content: '库问', reasoningContent: '' },
      { content: '答系', reasoningContent: '' },
      { content: '统', reasoningContent: '' },
    ]);
  });

  it('asks without stream_options when they are refused', async () => {
    const { server, client } = await startScriptedClient([script.refuseField('stream_options'), script.reply('好')]);

    const { reply } = await streamReply(client);

    expect(reply).toMatchObject({ content: '好', usage: { promptTokens: null, completionTokens: null } });
    expect(client.refusedFields()).toEqual(['stream_options']);
    expect(server.requests).toHaveLength(2);
  });

  it('puts characters together whose bytes come in different packets', async () => {
    const text = '知识库😀👨‍👩‍👧é 答案';
    const { client } = await startScriptedClient([script.reply(text, { packetBytes: 7, chunkSize: 3 })]);

    expect((await streamReply(client)).reply.content).toBe(text);
  });

  it('does not take keep-alive comments for content', async () => {
    const { client } = await startScriptedClient(
      [script.reply('abcdefgh', { keepAlive: true, chunkSize: 1, delayMs: 20 })],
      {
        timeouts: { idleMs: 500 },
      },
    );

    expect((await streamReply(client)).reply.content).toBe('abcdefgh');
  });

  it('does not try again once something was passed on', async () => {
    const { server, client } = await startScriptedClient(() => script.cutStream(3));
    const received: string[] = [];

    const result = client.streamOpenAi(buildModelRequest(), ({ content }) => {
      received.push(content);
    });

    expect(await modelErrorOf(result)).toMatchObject({ code: 'stream_cut' });
    expect(received.join('')).toBe('a text that ');
    expect(server.requests).toHaveLength(1);
  });

  it('tries again when a stream breaks before anything was passed on', async () => {
    const { server, client } = await startScriptedClient([
      script.cutStream(0),
      script.errorInStream(0),
      script.reply('好'),
    ]);

    expect((await streamReply(client)).reply.content).toBe('好');
    expect(server.requests).toHaveLength(3);
  });

  it('ends with the error a stream reports in its middle', async () => {
    const { server, client } = await startScriptedClient(() => script.errorInStream(2));

    expect((await modelErrorOf(streamReply(client))).code).toBe('unavailable');
    expect(server.requests).toHaveLength(1);
  });

  it('takes an answer for complete when the connection breaks after its finish reason', async () => {
    const events = '{"choices":[{"delta":{"content":"好"},"finish_reason":"stop"}]}';
    const { client } = await startScriptedClient([
      { kind: 'raw', contentType: 'text/event-stream', body: `data: ${events}\n\n` },
    ]);

    expect((await streamReply(client)).reply).toMatchObject({ content: '好', finishReason: 'stop' });
  });

  it('takes a whole completion from a gateway that does not stream', async () => {
    const body = '{"choices":[{"message":{"content":"<think>a</think>好"},"finish_reason":"stop"}]}';
    const { client } = await startScriptedClient([
      { kind: 'raw', contentType: 'application/json; charset=utf-8', body },
    ]);

    const { deltas } = await streamReply(client);

    expect(deltas).toEqual([{ content: '好', reasoningContent: 'a' }]);
  });

  it.each(['data: not json\n\n', 'data: [1]\n\ndata: 5\n\n', '', 'data: [DONE]\n\n'])(
    'calls the event stream %j bad_response',
    async (body) => {
      const { client } = await startScriptedClient([{ kind: 'raw', contentType: 'text/event-stream', body }]);

      expect((await modelErrorOf(streamReply(client))).code).toBe('bad_response');
    },
  );

  it('waits for a slow reader and does not count that as a stall', async () => {
    const { client } = await startScriptedClient([script.reply('ab', { chunkSize: 1 })], { timeouts: { idleMs: 400 } });
    let running = 0;
    let most = 0;

    const reply = await client.streamOpenAi(buildModelRequest(), async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 500));
      running -= 1;
    });

    expect(most).toBe(1);
    expect(reply.content).toBe('ab');
  });

  it('an abort does not wait for a reader that hangs', async () => {
    const { server, client } = await startScriptedClient([script.reply('abc'.repeat(50), { delayMs: 5 })]);
    const controller = new AbortController();
    const result = modelErrorOf(
      client.streamOpenAi(buildModelRequest({ signal: controller.signal }), () => {
        setTimeout(() => controller.abort(), 20);
        return new Promise<void>(() => undefined);
      }),
    );

    expect((await result).code).toBe('aborted');
    await until(() => server.requests[0]?.aborted === true, 1_000);
  });

  it('throws on what the reader throws and closes the connection', async () => {
    const { server, client } = await startScriptedClient([script.reply('abc'.repeat(50), { delayMs: 5 })]);
    const failure = new Error('the reader is gone');

    const result = client.streamOpenAi(buildModelRequest(), () => {
      throw failure;
    });

    await expect(result).rejects.toBe(failure);
    await until(() => server.requests[0]?.aborted === true, 1_000);
    expect(server.requests).toHaveLength(1);
  });
});
