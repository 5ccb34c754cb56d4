import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../database/database.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { EmbeddingCacheStore } from './embedding-cache-store.ts';

describeOnDatabases('EmbeddingCacheStore', (open) => {
  let database: Database;
  let store: EmbeddingCacheStore;
  beforeAll(async () => {
    database = await open();
    store = new EmbeddingCacheStore(database);
  });

  it('gives back what was put, by model', async () => {
    await store.put(
      'm1',
      new Map([
        ['h1', [0.5, -0.25]],
        ['h2', [1, 2]],
      ]),
    );
    await store.put('m2', new Map([['h1', [3]]]));

    expect(await store.get('m1', ['h1', 'h2', 'h3'])).toEqual(
      new Map([
        ['h1', [0.5, -0.25]],
        ['h2', [1, 2]],
      ]),
    );
    expect(await store.get('m2', ['h1', 'h2'])).toEqual(new Map([['h1', [3]]]));
  });

  it('writes over what is there and records the dimensions', async () => {
    await store.put('over', new Map([['h', [1, 2]]]));
    await store.put('over', new Map([['h', [1, 2, 3]]]));

    expect(await store.get('over', ['h'])).toEqual(new Map([['h', [1, 2, 3]]]));
    const rows = await database.query('select dimensions from max_kb_embedding_cache where model = $1', ['over']);
    expect(rows).toEqual([{ dimensions: 3 }]);
  });

  it('keeps single precision, and numbers too small for it as zero', async () => {
    await store.put('precision', new Map([['h', [0.1234567891, 1e-60, -3.2e-7]]]));

    const [first, second, third] = (await store.get('precision', ['h'])).get('h') ?? [];

    expect(first).toBeCloseTo(0.1234567891, 7);
    expect(second).toBe(0);
    expect(third).toBeCloseTo(-3.2e-7, 12);
  });

  it('takes more vectors of 4,000 dimensions than one statement holds', async () => {
    const vector = Array.from({ length: 4_000 }, (_, i) => Math.sin(i));
    const entries = new Map(Array.from({ length: 33 }, (_, i) => [`h${i}`, vector]));

    await store.put('large', entries);

    expect((await store.get('large', ['h32'])).get('h32')).toHaveLength(4_000);
  });

  it('does nothing for nothing', async () => {
    await store.put('m1', new Map());

    expect(await store.get('m1', [])).toEqual(new Map());
  });

  it('lets writers of the same texts pass each other', async () => {
    const hashes = Array.from({ length: 50 }, (_, i) => `h${i}`);
    const write = (order: string[]) => store.put('race', new Map(order.map((hash) => [hash, [1]])));

    await Promise.all([write(hashes), write(hashes.toReversed()), write(hashes), write(hashes.toReversed())]);

    expect((await store.get('race', hashes)).size).toBe(50);
  });
});
