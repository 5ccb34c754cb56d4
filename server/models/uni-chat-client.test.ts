import { describe, expect, it } from 'vitest';
import { modelErrorOf, startScriptedClient, testApiKey, waysOfAsking } from '../testing/scripted-client.ts';
import * as script from '../testing/scripted-steps.ts';

describe.each(waysOfAsking)('%s', (way, ask) => {
  it('R23 sends model, messages, token cap, thinking and format verbatim', async () => {
    const { server, client } = await startScriptedClient([script.reply('好')]);

    await ask(client, { maxTokens: 321, thinking: 'disabled', responseFormat: 'json_object' });

    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${testApiKey}`);
    expect(server.requests[0]?.body).toEqual({
      model: 'scripted',
      messages: [{ role: 'user', content: '你好' }],
      max_tokens: 321,
      thinking: { type: 'disabled' },
      response_format: { type: 'json_object' },
      stream: way === 'streamOpenAi',
      ...(way === 'streamOpenAi' && { stream_options: { include_usage: true } }),
    });
  });

  it('R18 maps thinking to enable_thinking where that is the style, and to nothing by default', async () => {
    const { server, client } = await startScriptedClient(() => script.reply('好'), {
      thinkingStyle: 'enable_thinking',
    });

    await ask(client, { thinking: 'disabled' });
    await ask(client, { thinking: 'default' });

    expect(server.requests[0]?.body).toMatchObject({ enable_thinking: false });
    expect(server.requests[0]?.body).not.toHaveProperty('thinking');
    expect(server.requests[1]?.body).not.toHaveProperty('enable_thinking');
  });

  it('returns answer, finish reason and token counts', async () => {
    const { client } = await startScriptedClient([
      script.reply('知识库😀', { usage: { prompt_tokens: 11, completion_tokens: 5 } }),
    ]);

    expect(await ask(client)).toEqual({
      content: '知识库😀',
      reasoningContent: '',
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 5 },
    });
  });

  it('gives null where no token counts came', async () => {
    const { client } = await startScriptedClient([script.reply('a', { usage: null })]);

    expect((await ask(client)).usage).toEqual({ promptTokens: null, completionTokens: null });
  });

  it('R84 keeps reasoning_content apart from the answer', async () => {
    const { client } = await startScriptedClient([script.reply('答案', { reasoning: '先想一想' })]);

    expect(await ask(client)).toMatchObject({ content: '答案', reasoningContent: '先想一想' });
  });

  it('R11 keeps a think block apart, also one the service has reported already', async () => {
    const { client } = await startScriptedClient([
      script.thinkBlock('想', '答案', { chunkSize: 1 }),
      script.thinkBlock('想', '答案', { reasoning: '想' }),
    ]);

    expect(await ask(client)).toMatchObject({ content: '答案', reasoningContent: '想' });
    expect(await ask(client)).toMatchObject({ content: '答案', reasoningContent: '想' });
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['insufficient_system_resource', 'unfinished'],
    ['', 'unfinished'],
  ])('R19 reports the finish reason %s as %s', async (finishReason, expected) => {
    const { client } = await startScriptedClient([script.reply('a', { finishReason })]);

    expect((await ask(client)).finishReason).toBe(expected);
  });

  it('R125 calls an answer without finish reason unfinished', async () => {
    const { client } = await startScriptedClient([script.withoutFinishReason('an answer')]);

    expect(await ask(client)).toMatchObject({ content: 'an answer', finishReason: 'unfinished' });
  });

  it.each([
    ['thinking', { thinking: 'disabled' }],
    ['response_format', { responseFormat: 'json_object' }],
  ] as const)('R18 asks once more without %s when that is refused, and remembers', async (field, changes) => {
    const { server, client } = await startScriptedClient([
      script.refuseField(field),
      script.reply('一'),
      script.reply('二'),
    ]);

    expect((await ask(client, changes)).content).toBe('一');
    expect(client.refusedFields()).toEqual([field]);
    expect((await ask(client, changes)).content).toBe('二');

    expect(server.requests.map(({ body }) => field in body)).toEqual([true, false, false]);
  });

  it('R18 finds the refused field also where the refusal names none', async () => {
    const { server, client } = await startScriptedClient([
      script.refuseField('response_format', { body: '{"message":"Invalid parameter"}' }),
      script.reply('一'),
    ]);

    await ask(client, { thinking: 'disabled', responseFormat: 'json_object' });

    expect(client.refusedFields()).toEqual(['response_format']);
    expect(server.requests.at(-1)?.body).toHaveProperty('thinking');
  });

  it('R18 leaves out several refused fields', async () => {
    const { client } = await startScriptedClient([
      script.refuseField('thinking', { body: '{"detail":[{"loc":["body","thinking"],"msg":"extra forbidden"}]}' }),
      script.refuseField('response_format'),
      script.reply('一'),
    ]);

    await ask(client, { thinking: 'disabled', responseFormat: 'json_object' });

    expect(client.refusedFields()).toEqual(['thinking', 'response_format']);
  });

  it('sends max_completion_tokens where max_tokens is refused for it', async () => {
    const body = JSON.stringify({
      error: { message: "Unsupported 'max_tokens'. Use 'max_completion_tokens' instead." },
    });
    const { server, client } = await startScriptedClient([
      script.refuseField('max_tokens', { body }),
      script.reply('一'),
    ]);

    await ask(client, { maxTokens: 55 });

    expect(server.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 55 });
    expect(server.requests.at(-1)?.body).not.toHaveProperty('max_tokens');
  });

  it('does not take any 400 for a refused field once the fields were accepted', async () => {
    const { server, client } = await startScriptedClient([script.reply('一'), script.status(400)]);
    await ask(client, { thinking: 'disabled' });

    const error = await modelErrorOf(ask(client, { thinking: 'disabled' }));

    expect(error).toMatchObject({ code: 'bad_request', status: 400, retryable: false });
    expect(server.requests).toHaveLength(2);
    expect(client.refusedFields()).toEqual([]);
  });

  it('sends no authorisation where there is no key', async () => {
    const { server, client } = await startScriptedClient([script.reply('好')], { apiKey: '' });

    await ask(client);

    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});
