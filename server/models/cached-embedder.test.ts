import { describe, expect, it } from 'vitest';
import { CachedEmbedder, type EmbeddingCache } from './cached-embedder.ts';
import type { Embedder } from './chat-model.ts';

const never = new AbortController().signal;

class MemoryCache implements EmbeddingCache {
  readonly entries = new Map<string, number[]>();

  async get(model: string, hashes: readonly string[]): Promise<Map<string, number[]>> {
    const found = hashes.flatMap((hash): [string, number[]][] => {
      const vector = this.entries.get(`${model} ${hash}`);
      return vector === undefined ? [] : [[hash, vector]];
    });
    return new Map(found);
  }

  async put(model: string, entries: ReadonlyMap<string, readonly number[]>): Promise<void> {
    for (const [hash, vector] of entries) this.entries.set(`${model} ${hash}`, [...vector]);
  }
}

/** Gives a text's length, repeated; records what it was asked. */
class LengthEmbedder implements Embedder {
  readonly model = 'length';
  readonly asked: string[][] = [];
  dimensions = 2;

  async embed(texts: readonly string[]): Promise<number[][]> {
    this.asked.push([...texts]);
    return texts.map((text) => new Array<number>(this.dimensions).fill(text.length));
  }
}

function build(dimensions?: number) {
  const inner = new LengthEmbedder();
  const cache = new MemoryCache();
  return { inner, cache, embedder: new CachedEmbedder({ inner, cache, dimensions }) };
}

describe('CachedEmbedder', () => {
  it('asks only for what is not cached, each text once', async () => {
    const { inner, embedder } = build();

    expect(await embedder.embed(['a', 'bb', 'a'], never)).toEqual([
      [1, 1],
      [2, 2],
      [1, 1],
    ]);
    expect(await embedder.embed(['ccc', 'a', 'bb'], never)).toEqual([
      [3, 3],
      [1, 1],
      [2, 2],
    ]);

    expect(inner.asked).toEqual([['a', 'bb'], ['ccc']]);
  });

  it('lends the embedder inside, which asks the service and keeps nothing', async () => {
    const { inner, cache, embedder } = build();
    await embedder.embed(['a'], never);

    await embedder.uncached.embed(['a'], never);
    await embedder.uncached.embed(['bb'], never);

    expect(inner.asked).toEqual([['a'], ['a'], ['bb']]);
    expect(cache.entries.size).toBe(1);
  });

  it('keys by the SHA-256 of the text', async () => {
    const { cache, embedder } = build();

    await embedder.embed(['abc'], never);

    expect([...cache.entries.keys()]).toEqual([
      'length ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    ]);
  });

  it('asks nothing for no texts or only cached ones', async () => {
    const { inner, embedder } = build();
    await embedder.embed(['a'], never);

    expect(await embedder.embed([], never)).toEqual([]);
    await embedder.embed(['a', 'a'], never);

    expect(inner.asked).toHaveLength(1);
  });

  it('embeds anew what was cached at another length', async () => {
    const { inner, embedder } = build();
    await embedder.embed(['a', 'bb'], never);
    inner.dimensions = 3;

    expect(await embedder.embed(['a', 'ccc'], never)).toEqual([
      [1, 1, 1],
      [3, 3, 3],
    ]);
    expect(inner.asked.slice(1)).toEqual([['ccc'], ['a']]);
    expect(await embedder.embed(['a', 'bb'], never)).toEqual([
      [1, 1, 1],
      [2, 2, 2],
    ]);
  });

  it('takes a cached vector of a length other than the configured one for missing', async () => {
    const { inner, cache, embedder } = build();
    await embedder.embed(['a'], never);
    inner.dimensions = 5;

    const [vector] = await new CachedEmbedder({ inner, cache, dimensions: 5 }).embed(['a'], never);

    expect(vector).toHaveLength(5);
  });

  it('keeps the parts of a long call that were embedded before one failed', async () => {
    const { inner, cache, embedder } = build();
    const texts = Array.from({ length: 300 }, (_, i) => `text ${i}`);
    const embed = inner.embed.bind(inner);
    inner.embed = async (batch) => {
      if (batch.includes('text 299')) throw new Error('down');
      return embed(batch);
    };

    await expect(embedder.embed(texts, never)).rejects.toThrow('down');

    expect(cache.entries.size).toBe(256);
  });
});
