import type { Database } from '../../database/database.ts';
import { EXACT_SCAN_ROWS } from '../indexing/index-vectors.ts';
import { vectorText, vectorType } from '../indexing/vector-dimensions.ts';

/** A paragraph found by its vector. `score`: 1 − cosine distance of its nearest chunk, in 0–1. */
export interface VectorHit {
  paragraphId: string;
  documentId: string;
  number: number;
  score: number;
}

export interface VectorRequest {
  embedding: readonly number[];
  model: string;
  datasetIds: readonly string[];
  excludeParagraphIds: readonly string[];
  /** Only paragraphs above this similarity. */
  similarity: number;
  limit: number;
}

/** A paragraph has several chunks; so many rows for each paragraph wanted are read before the best of each is taken. */
const CHUNKS_READ = 4;
/** pgvector's list of candidates; 100 gave recall@10 of 1.0 (20,000 vectors, 2026-12-01). Its maximum is 1,000. */
const MIN_CANDIDATES = 100;
const MAX_CANDIDATES = 1_000;

/** Whether these datasets have vectors of a model, counted up to the limit of an exact scan. */
export async function countDatasetVectors(
  database: Database,
  { datasetIds, model }: { datasetIds: readonly string[]; model: string },
): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `select count(*) as n from (
       select 1 from max_kb_embedding where dataset_id = any($1::uuid[]) and model = $2 limit ${EXACT_SCAN_ROWS + 1}
     ) as counted`,
    [datasetIds, model],
  );
  return row?.n ?? 0;
}

/**
 * The paragraphs nearest to an embedding, best first, each by its best chunk. `rows`: from `countDatasetVectors`; few are
 * compared one by one, many are looked up in the HNSW index. Throws TooManyDimensionsError.
 */
export async function searchVectors(database: Database, request: VectorRequest, rows: number): Promise<VectorHit[]> {
  if (rows <= EXACT_SCAN_ROWS) return readNearest(database, request, exactSql(request.embedding.length));
  const candidates = Math.min(Math.max(request.limit * CHUNKS_READ, MIN_CANDIDATES), MAX_CANDIDATES);
  return database.transaction(async () => {
    // The planner takes a sequential scan over HNSW at 20,000 rows (59 ms against 1.3 ms, 2026-12-01).
    await database.query(
      `select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
         set_config('hnsw.ef_search', '${candidates}', true), set_config('hnsw.iterative_scan', 'strict_order', true)`,
    );
    return readNearest(database, request, indexedSql(request.embedding.length));
  });
}

function readNearest(database: Database, request: VectorRequest, sql: string): Promise<VectorHit[]> {
  return database.query<VectorHit>(sql, [
    vectorText(request.embedding),
    request.model,
    request.datasetIds,
    request.excludeParagraphIds,
    request.similarity,
    request.limit,
    request.limit * CHUNKS_READ,
  ]);
}

const LIVING = `
  select p.id, p.document_id, p.number from max_kb_paragraph p join max_kb_document d on d.id = p.document_id
  where p.id = near.paragraph_id and p.is_active and d.is_active and p.id <> all($4::uuid[])`;

const RESULT = `
  select "paragraphId", "documentId", number, greatest(0, least(1, max(score))) as score
  from living group by 1, 2, 3 having max(score) > $5 order by max(score) desc, number limit $6`;

/** `materialized` keeps the planner from the index, which may miss rows behind a filter. */
function exactSql(dimensions: number): string {
  const { type } = vectorType(dimensions);
  return `
    with near as materialized (
      select paragraph_id, 1 - (embedding::${type} <=> $1::${type}) as score from max_kb_embedding
      where dataset_id = any($3::uuid[]) and model = $2 and dimensions = ${dimensions} and $7::int > 0
    ), living as (
      select p.id as "paragraphId", p.document_id as "documentId", p.number, near.score
      from near cross join lateral (${LIVING}) as p
      where near.score > $5
    ) ${RESULT}`;
}

function indexedSql(dimensions: number): string {
  const { type } = vectorType(dimensions);
  return `
    with living as materialized (
      select p.id as "paragraphId", p.document_id as "documentId", p.number, near.score
      from (
        select paragraph_id, dataset_id, model, 1 - (embedding::${type} <=> $1::${type}) as score from max_kb_embedding
        where dimensions = ${dimensions} and dataset_id = any($3::uuid[]) and model = $2
        order by embedding::${type} <=> $1::${type}
      ) as near cross join lateral (${LIVING} offset 0) as p
      limit $7
    ) ${RESULT}`;
}
