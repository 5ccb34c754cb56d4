import { createHash } from 'node:crypto';
import type { Embedder } from './chat-model.ts';

/** Vectors kept by model and by the SHA-256 of their text. */
export interface EmbeddingCache {
  /** Returns those it has; the others are missing in the map. */
  get(model: string, hashes: readonly string[]): Promise<Map<string, number[]>>;
  /** Keeps vectors by hash, over what was there. */
  put(model: string, entries: ReadonlyMap<string, readonly number[]>): Promise<void>;
}

/** Texts for each look-up, so that what was embedded stays when a later part of a long call fails. */
const sliceSize = 256;

/**
 * An embedder that asks the one inside only for texts the cache does not have, and for each text once. Vectors of a
 * length other than the model gives now (it was configured anew, or changed behind its name) count as missing.
 */
export class CachedEmbedder implements Embedder {
  readonly model: string;
  readonly #inner: Embedder;
  readonly #cache: EmbeddingCache;
  readonly #dimensions: number | undefined;

  /** `dimensions`: of the vectors wanted, where configured. */
  constructor({
    inner,
    cache,
    dimensions,
  }: { inner: Embedder; cache: EmbeddingCache; dimensions?: number | undefined }) {
    this.model = inner.model;
    this.#inner = inner;
    this.#cache = cache;
    this.#dimensions = dimensions;
  }

  /** The embedder inside, for who wants to ask the service itself. */
  get uncached(): Embedder {
    return this.#inner;
  }

  /** Returns one vector for each text, in order. Throws what the embedder inside or the cache throws. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const hashes = texts.map(hashText);
    const textByHash = new Map(texts.map((text, i) => [hashes[i] ?? '', text]));
    const vectors = new Map<string, number[]>();
    const unique = [...textByHash];
    for (let start = 0; start < unique.length; start += sliceSize) {
      const slice = new Map(unique.slice(start, start + sliceSize));
      for (const [hash, vector] of await this.#embedSlice(slice, signal)) vectors.set(hash, vector);
    }
    return hashes.map((hash) => {
      const vector = vectors.get(hash);
      if (vector === undefined) throw new Error(`No vector came back for a text of the model ${this.model}.`);
      return vector;
    });
  }

  async #embedSlice(textByHash: ReadonlyMap<string, string>, signal: AbortSignal): Promise<Map<string, number[]>> {
    const hits = await this.#cache.get(this.model, [...textByHash.keys()]);
    if (!haveOneLength(hits, this.#dimensions)) hits.clear();
    const fresh = await this.#embedMissing(textByHash, hits, signal);
    const freshLength = fresh.values().next().value?.length;
    if (freshLength !== undefined && !haveOneLength(hits, freshLength)) {
      for (const [hash, vector] of await this.#embedMissing(textByHash, fresh, signal)) fresh.set(hash, vector);
      hits.clear();
    }
    return new Map([...hits, ...fresh]);
  }

  async #embedMissing(
    textByHash: ReadonlyMap<string, string>,
    present: ReadonlyMap<string, number[]>,
    signal: AbortSignal,
  ): Promise<Map<string, number[]>> {
    const missing = [...textByHash].filter(([hash]) => !present.has(hash));
    if (missing.length === 0) return new Map();
    const vectors = await this.#inner.embed(
      missing.map(([, text]) => text),
      signal,
    );
    const entries = new Map(missing.map(([hash], i) => [hash, vectors[i] ?? []]));
    await this.#cache.put(this.model, entries);
    return entries;
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function haveOneLength(vectors: ReadonlyMap<string, number[]>, length: number | undefined): boolean {
  const wanted = length ?? vectors.values().next().value?.length;
  return [...vectors.values()].every((vector) => vector.length === wanted);
}
