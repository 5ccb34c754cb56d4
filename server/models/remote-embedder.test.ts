import { afterEach, describe, expect, it } from 'vitest';
import {
  type EmbeddingsBody,
  type ScriptedEmbeddings,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../testing/scripted-model-server.ts';
import { hang, status } from '../testing/scripted-steps.ts';
import { RemoteEmbedder, type RemoteEmbedderOptions } from './remote-embedder.ts';

const servers: ScriptedModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const never = new AbortController().signal;

async function start(embeddings: ScriptedEmbeddings = {}, options: Partial<RemoteEmbedderOptions> = {}) {
  const server = await startScriptedModelServer({ embeddings });
  servers.push(server);
  const embedder = new RemoteEmbedder({
    baseUrl: server.baseUrl,
    apiKey: 'sk-secret',
    model: 'scripted-embedding',
    retryPolicy: { baseDelayMs: 10 },
    ...options,
  });
  const batchSizes = () => server.requests.map(({ body }) => [body['input']].flat().length);
  return { server, embedder, batchSizes };
}

function textsOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `text number ${i}`);
}

function cosine(a: readonly number[] = [], b: readonly number[] = []): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe('RemoteEmbedder', () => {
  it('R2 asks for floats and gives one vector for each text', async () => {
    const { server, embedder } = await start();

    const vectors = await embedder.embed(['知识库问答', '知识库的问答系统', 'weather'], never);

    expect(server.requests[0]?.body).toEqual({
      model: 'scripted-embedding',
      input: ['知识库问答', '知识库的问答系统', 'weather'],
      encoding_format: 'float',
    });
    expect(vectors.map(({ length }) => length)).toEqual([64, 64, 64]);
    expect(cosine(vectors[0], vectors[1])).toBeGreaterThan(cosine(vectors[0], vectors[2]) + 0.3);
    expect(embedder.dimensions).toBe(64);
  });

  it('asks nothing for no texts', async () => {
    const { server, embedder } = await start();

    expect(await embedder.embed([], never)).toEqual([]);
    expect(server.requests).toHaveLength(0);
  });

  it('sends batches of 32, in order', async () => {
    const { embedder, batchSizes } = await start();
    const texts = textsOf(70);

    const vectors = await embedder.embed(texts, never);

    expect(batchSizes()).toEqual([32, 32, 6]);
    const [last] = await embedder.embed(texts.slice(-1), never);
    expect(vectors.at(-1)).toEqual(last);
  });

  it('halves refused batches and remembers what passed', async () => {
    const { embedder, batchSizes } = await start({ maxBatch: 10 });

    expect(await embedder.embed(textsOf(20), never)).toHaveLength(20);
    expect(batchSizes()).toEqual([20, 10, 10]);
    await embedder.embed(textsOf(20), never);

    expect(batchSizes().slice(3)).toEqual([10, 10]);
  });

  it.each([400, 413, 422])('halves after an unexplained %d', async (code) => {
    const { embedder, batchSizes } = await start({
      step: ({ body }) => ([body['input']].flat().length > 2 ? status(code, { body: 'no' }) : undefined),
    });

    expect(await embedder.embed(textsOf(5), never)).toHaveLength(5);
    expect(batchSizes()).toEqual([5, 2, 2, 1]);
  });

  it('reports a text that is too long alone, and keeps its batch size', async () => {
    const { embedder, batchSizes } = await start({ maxCharacters: 100 });
    const texts = textsOf(8);
    texts[5] = '长'.repeat(101);

    await expect(embedder.embed(texts, never)).rejects.toMatchObject({
      code: 'context_length',
      message: expect.stringContaining('text 6 of the call, 101 characters'),
    });

    const before = batchSizes().length;
    await embedder.embed(textsOf(32), never);
    expect(batchSizes().slice(before)).toEqual([32]);
  });

  it('puts vectors in order by index', async () => {
    const { embedder } = await start({ change: (body) => ({ ...body, data: body.data.toReversed() }) });

    const [first, second] = await embedder.embed(['alpha', 'beta'], never);

    const { embedder: other } = await start();
    expect([first, second]).toEqual(await other.embed(['alpha', 'beta'], never));
  });

  const damage = (change: (data: EmbeddingsBody['data']) => unknown): ScriptedEmbeddings => ({
    change: (body) => ({ ...body, data: change(body.data) }),
  });

  it.each([
    ['too few vectors', damage((data) => data.slice(1)), 'bad_response'],
    ['an index twice', damage((data) => data.map((item) => ({ ...item, index: 0 }))), 'bad_response'],
    ['an empty vector', damage((data) => data.map((item) => ({ ...item, embedding: [] }))), 'bad_response'],
    ['a null in a vector', damage((data) => data.map((item) => ({ ...item, embedding: [1, null] }))), 'bad_response'],
    ['base64', damage((data) => data.map((item) => ({ ...item, embedding: 'AACAPw==' }))), 'bad_response'],
    [
      'unequal lengths',
      damage((data) => data.map((item, i) => ({ ...item, embedding: item.embedding.slice(i) }))),
      'bad_response',
    ],
    ['an error with status 200', { change: () => ({ error: { message: 'Rate limit reached' } }) }, 'rate_limited'],
  ] satisfies [string, ScriptedEmbeddings, string][])('refuses %s', async (_name, embeddings, code) => {
    const { embedder } = await start(embeddings);

    await expect(embedder.embed(['a', 'b'], never)).rejects.toMatchObject({ code });
  });

  it('R127 takes 4,000 dimensions and refuses more with a clear error', async () => {
    const { embedder } = await start({ dimensions: 4_000 });
    expect((await embedder.embed(['a'], never))[0]).toHaveLength(4_000);

    const { embedder: larger } = await start({ dimensions: 4_001 });
    await expect(larger.embed(['a'], never)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(/4001 dimensions; at most 4000/),
    });
  });

  it('asks for the configured dimensions and demands them', async () => {
    const { server, embedder } = await start({}, { dimensions: 16 });
    expect((await embedder.embed(['a'], never))[0]).toHaveLength(16);
    expect(server.requests[0]?.body).toMatchObject({ dimensions: 16 });

    const cut = damage((data) => data.map((item) => ({ ...item, embedding: item.embedding.slice(1) })));
    const { embedder: other } = await start(cut, { dimensions: 16 });
    await expect(other.embed(['a'], never)).rejects.toThrow(/15 dimensions where 16 were expected/);
  });

  it('R18 leaves out dimensions where they are refused', async () => {
    const refusal = status(400, { body: '{"message":"Model does not support matryoshka representation"}' });
    const { embedder } = await start(
      { dimensions: 16, step: ({ body }) => ('dimensions' in body ? refusal : undefined) },
      { dimensions: 16 },
    );

    expect((await embedder.embed(['a'], never))[0]).toHaveLength(16);
    expect(embedder.refusedFields()).toEqual(['dimensions']);
  });

  it('refuses vectors of another length than before', async () => {
    let dimensions = 8;
    const { embedder } = await start(
      damage((data) => data.map((item) => ({ ...item, embedding: item.embedding.slice(0, dimensions) }))),
    );
    await embedder.embed(['a'], never);

    dimensions = 9;

    await expect(embedder.embed(['a'], never)).rejects.toThrow(/9 dimensions where 8 were expected/);
  });

  it('tries again after 429 and 500', async () => {
    const failures = [status(429, { retryAfterMs: 10 }), status(500)];
    const { server, embedder } = await start({ step: () => failures.shift() });

    await embedder.embed(['a'], never);

    expect(server.requests).toHaveLength(3);
  });

  it('an abort closes the connection', async () => {
    const { server, embedder } = await start({ step: () => hang() });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);

    await expect(embedder.embed(['a'], controller.signal)).rejects.toMatchObject({ code: 'aborted' });

    await expect.poll(() => server.requests[0]?.aborted, { timeout: 1_000 }).toBe(true);
  });
});
