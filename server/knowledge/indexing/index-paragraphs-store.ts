import type { Database } from '../../database/database.ts';
import type { PostingList, Segment } from './postings.ts';

/** A statement carries about this much text: big parameters are quadratic over the embedded database's socket. */
const MAX_STATEMENT_CHARACTERS = 500_000;
const MAX_STATEMENT_LISTS = 20_000;

/** Whether some of these paragraphs may have postings already. May say yes wrongly, never no. */
export async function mayBeIndexed(database: Database, datasetId: string, minNumber: number): Promise<boolean> {
  const rows = await database.query(
    'select 1 from max_kb_search_segment where dataset_id = $1 and max_number >= $2 limit 1',
    [datasetId, minNumber],
  );
  return rows.length > 0;
}

/** Gives paragraphs new numbers: postings under the old ones are dead from then on. Returns id → number. */
export async function renumberParagraphs(database: Database, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await database.query<{ id: string; number: number }>(
    'update max_kb_paragraph set number = default where id = any($1::uuid[]) returning id, number',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.number]));
}

/** Records a segment. Returns its id. */
export async function insertSegment(database: Database, datasetId: string, segment: Segment): Promise<number> {
  const [row] = await database.query<{ id: number }>(
    `insert into max_kb_search_segment (dataset_id, paragraphs, length, min_number, max_number)
     values ($1, $2, $3, $4, $5) returning id`,
    [datasetId, segment.paragraphs, segment.length, segment.minNumber, segment.maxNumber],
  );
  if (!row) throw new Error('The search segment was not stored.');
  return row.id;
}

/** Writes the posting lists of a segment, some 500,000 characters a statement. */
export async function insertPostings(
  database: Database,
  place: { datasetId: string; segmentId: number },
  lists: readonly PostingList[],
): Promise<void> {
  let batch: PostingRow[] = [];
  let characters = 0;
  for (const list of lists) {
    const row = toRow(list);
    if (characters + row.characters > MAX_STATEMENT_CHARACTERS || batch.length === MAX_STATEMENT_LISTS) {
      await insertRows(database, place, batch);
      batch = [];
      characters = 0;
    }
    batch.push(row);
    characters += row.characters;
  }
  if (batch.length > 0) await insertRows(database, place, batch);
}

interface PostingRow {
  term: string;
  size: number;
  numbers: string;
  codes: string;
  characters: number;
}

function toRow({ term, numbers, codes }: PostingList): PostingRow {
  const row = { term, size: numbers.length, numbers: `{${numbers.join()}}`, codes: `{${codes.join()}}` };
  return { ...row, characters: term.length + row.numbers.length + row.codes.length + 16 };
}

async function insertRows(
  database: Database,
  place: { datasetId: string; segmentId: number },
  rows: readonly PostingRow[],
): Promise<void> {
  await database.query(
    `insert into max_kb_search_posting (dataset_id, term, segment_id, size, numbers, codes)
     select $1, term, $2, size, numbers::int[], codes::smallint[]
     from unnest($3::text[], $4::int[], $5::text[], $6::text[]) as u (term, size, numbers, codes)`,
    [
      place.datasetId,
      place.segmentId,
      rows.map((row) => row.term),
      rows.map((row) => row.size),
      rows.map((row) => row.numbers),
      rows.map((row) => row.codes),
    ],
  );
}
