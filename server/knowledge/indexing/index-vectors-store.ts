import type { Database } from '../../database/database.ts';
import { vectorText, vectorType } from './vector-dimensions.ts';

/** Where a vector comes from: MaxKB's numbers. */
export type VectorSource = 'problem' | 'paragraph' | 'title';

/** One embedded chunk of a paragraph. */
export interface ParagraphVector {
  paragraphId: string;
  documentId: string;
  datasetId: string;
  source: VectorSource;
  embedding: readonly number[];
}

const SOURCE_TYPES: Record<VectorSource, string> = { problem: '0', paragraph: '1', title: '2' };
/** Some 12 characters a number: statements stay near 500,000 characters. */
const MAX_NUMBERS_IN_STATEMENT = 40_000;

/**
 * Writes vectors of one model, all of one length, in place of those the paragraphs had of that model and of their sources.
 * Run it in the transaction that makes the paragraphs live. Throws TooManyDimensionsError.
 */
export async function replaceVectors(
  database: Database,
  model: string,
  vectors: readonly ParagraphVector[],
): Promise<void> {
  const dimensions = vectors[0]?.embedding.length ?? 0;
  if (vectors.length === 0) return;
  vectorType(dimensions);
  await database.query('delete from max_kb_embedding where model = $1 and paragraph_id = any($2::uuid[])', [
    model,
    [...new Set(vectors.map((vector) => vector.paragraphId))],
  ]);
  const size = Math.max(1, Math.floor(MAX_NUMBERS_IN_STATEMENT / dimensions));
  for (let start = 0; start < vectors.length; start += size) {
    await insertVectors(database, { model, dimensions }, vectors.slice(start, start + size));
  }
}

async function insertVectors(
  database: Database,
  { model, dimensions }: { model: string; dimensions: number },
  vectors: readonly ParagraphVector[],
): Promise<void> {
  await database.query(
    `insert into max_kb_embedding (paragraph_id, document_id, dataset_id, source_type, model, dimensions, embedding)
     select u.paragraph, u.document, u.dataset, u.source, $1, $2, u.embedding::vector
     from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[]) as u (paragraph, document, dataset, source, embedding)`,
    [
      model,
      dimensions,
      vectors.map((vector) => vector.paragraphId),
      vectors.map((vector) => vector.documentId),
      vectors.map((vector) => vector.datasetId),
      vectors.map((vector) => SOURCE_TYPES[vector.source]),
      vectors.map((vector) => vectorText(vector.embedding)),
    ],
  );
}

/**
 * Builds the nearest-neighbour index for vectors of a length, when there is none. Takes 20 s for 20,000 vectors of 512
 * dimensions on PGlite (2026-12-01); inserts are slower afterwards. Throws TooManyDimensionsError.
 */
export async function ensureVectorIndex(database: Database, dimensions: number): Promise<void> {
  const { type, operators } = vectorType(dimensions);
  // Two creators at once: the name lets the second find it done, or fail on the name and try again.
  await database.query(
    `create index if not exists max_kb_embedding_hnsw_${dimensions}
     on max_kb_embedding using hnsw ((embedding::${type}) ${operators}) where dimensions = ${dimensions}`,
  );
}

/** How many vectors of a length there are, counted up to `limit`. */
export async function countVectors(database: Database, dimensions: number, limit: number): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    'select count(*) as n from (select 1 from max_kb_embedding where dimensions = $1 limit $2) as counted',
    [dimensions, limit],
  );
  return row?.n ?? 0;
}
