import type { Database } from '../../database/database.ts';
import { LENGTH_BITS, LENGTH_STEP } from './postings.ts';

/** A row of max_kb_search_segment. */
export interface StoredSegment {
  id: number;
  paragraphs: number;
}

/** Any number, the same in every instance, beside the dataset's own. */
const COMPACTION_LOCK = 5_466_992;

/** Takes the dataset for this transaction; false when another has it. */
export async function lockDataset(database: Database, datasetId: string): Promise<boolean> {
  const [row] = await database.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1, hashtext($2)) as locked',
    [COMPACTION_LOCK, datasetId],
  );
  return row?.locked ?? false;
}

/** A dataset's segments, oldest first, and how many of its paragraphs are alive. */
export async function listSegments(
  database: Database,
  datasetId: string,
): Promise<{ segments: StoredSegment[]; alive: number }> {
  const segments = await database.query<StoredSegment>(
    'select id, paragraphs from max_kb_search_segment where dataset_id = $1 order by id',
    [datasetId],
  );
  const [row] = await database.query<{ alive: number }>(
    'select count(*) as alive from max_kb_paragraph where dataset_id = $1 and number <= (select max(max_number) from max_kb_search_segment where dataset_id = $1)',
    [datasetId],
  );
  return { segments, alive: row?.alive ?? 0 };
}

/** Writes one new segment with all that the given ones hold, the dead too. Returns its id. */
export async function mergeSegments(
  database: Database,
  datasetId: string,
  segmentIds: readonly number[],
): Promise<number> {
  const mergedId = await insertMergedSegment(database, datasetId, segmentIds);
  await database.query(
    `insert into max_kb_search_posting (dataset_id, term, segment_id, size, numbers, codes)
     select $1, term, $3, sum(size), max_kb_concatenate(numbers), max_kb_concatenate(codes)
     from max_kb_search_posting where segment_id = any($2::int[]) group by term`,
    [datasetId, segmentIds, mergedId],
  );
  return mergedId;
}

/** Like `mergeSegments`, without the dead, which takes several times as long. */
export async function rewriteSegments(
  database: Database,
  datasetId: string,
  segmentIds: readonly number[],
): Promise<number> {
  const mergedId = await insertMergedSegment(database, datasetId, segmentIds);
  await database.query(
    `insert into max_kb_search_posting (dataset_id, term, segment_id, size, numbers, codes)
     select $1, term, $3, count(*), array_agg(number), array_agg(code)
     from (select term, unnest(numbers) as number, unnest(codes) as code
           from max_kb_search_posting where segment_id = any($2::int[])) as posting
     where number in (select number from max_kb_paragraph where dataset_id = $1)
     group by term`,
    [datasetId, segmentIds, mergedId],
  );
  await recountSegment(database, mergedId);
  return mergedId;
}

async function insertMergedSegment(
  database: Database,
  datasetId: string,
  segmentIds: readonly number[],
): Promise<number> {
  const [row] = await database.query<{ id: number }>(
    `insert into max_kb_search_segment (dataset_id, paragraphs, length, min_number, max_number)
     select $1, sum(paragraphs), sum(length), min(min_number), max(max_number)
     from max_kb_search_segment where id = any($2::int[]) returning id`,
    [datasetId, segmentIds],
  );
  if (!row) throw new Error('The merged search segment was not stored.');
  return row.id;
}

/** Counts again what a segment holds, and drops it when that is nothing. */
async function recountSegment(database: Database, segmentId: number): Promise<void> {
  await database.query(
    `with held as (
       select number, max(code & ${2 ** LENGTH_BITS - 1}) * ${LENGTH_STEP} as length
       from (select unnest(numbers) as number, unnest(codes) as code
             from max_kb_search_posting where segment_id = $1) as posting
       group by number
     ), gone as (
       delete from max_kb_search_segment where id = $1 and not exists (select 1 from held)
     )
     update max_kb_search_segment
     set paragraphs = counted.paragraphs, length = counted.length, min_number = counted.low, max_number = counted.high
     from (select count(*) as paragraphs, sum(length) as length, min(number) as low, max(number) as high from held) as counted
     where id = $1 and counted.paragraphs > 0`,
    [segmentId],
  );
}

/** Removes segments with their lists. */
export async function deleteSegments(database: Database, ids: readonly number[]): Promise<void> {
  await database.query('delete from max_kb_search_posting where segment_id = any($1::int[])', [ids]);
  await database.query('delete from max_kb_search_segment where id = any($1::int[])', [ids]);
}

/** Makes the space of deleted lists usable again and refreshes the planner's statistics. Not inside a transaction. */
export async function vacuumSearchData(database: Database): Promise<void> {
  await database.query('vacuum (analyze) max_kb_search_posting');
}
