import type { Database } from '../database/database.ts';
import type { EmbeddingCache } from './cached-embedder.ts';

/** PGlite slows down on long messages: 256 vectors of 4,000 took 4.0 s in one statement, 2.0 s in eight (2026-12-01). */
const rowsForEachStatement = 32;

/** The embedding cache in the database. Vectors are kept in single precision, as the search index keeps them. */
export class EmbeddingCacheStore implements EmbeddingCache {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads the vectors there are of `hashes`, by hash. */
  async get(model: string, hashes: readonly string[]): Promise<Map<string, number[]>> {
    if (hashes.length === 0) return new Map();
    const rows = await this.#database.query<{ text_hash: string; embedding: string }>(
      // As text, since the engines' drivers differ in how they parse an array of reals.
      `select text_hash, embedding::text as embedding
         from max_kb_embedding_cache
        where model = $1 and text_hash = any($2::text[])`,
      [model, hashes],
    );
    return new Map(rows.map((row) => [row.text_hash, parseReals(row.embedding)]));
  }

  /** Writes vectors by hash, over those that are there. Parts may stay when a later part fails; that is no harm here. */
  async put(model: string, entries: ReadonlyMap<string, readonly number[]>): Promise<void> {
    const rows = [...entries];
    for (let start = 0; start < rows.length; start += rowsForEachStatement) {
      await this.#putRows(model, rows.slice(start, start + rowsForEachStatement));
    }
  }

  async #putRows(model: string, rows: readonly [string, readonly number[]][]): Promise<void> {
    await this.#database.query(
      // In the order of the hashes: two writers of the same texts then wait for each other instead of deadlocking.
      `insert into max_kb_embedding_cache (model, text_hash, dimensions, embedding, create_time)
       select $1, entry.text_hash, entry.dimensions, entry.embedding::real[], now()
         from unnest($2::text[], $3::int[], $4::text[]) as entry (text_hash, dimensions, embedding)
        order by entry.text_hash
       on conflict (model, text_hash)
       do update set dimensions = excluded.dimensions, embedding = excluded.embedding, create_time = excluded.create_time`,
      [
        model,
        rows.map(([hash]) => hash),
        rows.map(([, vector]) => vector.length),
        rows.map(([, vector]) => formatReals(vector)),
      ],
    );
  }
}

function formatReals(vector: readonly number[]): string {
  // Rounded to single precision, which nine digits hold: PostgreSQL refuses a number too small for a real.
  return `{${vector.map((value) => Math.fround(value).toPrecision(9)).join(',')}}`;
}

function parseReals(text: string): number[] {
  return text.slice(1, -1).split(',').map(Number);
}
