import type { Database } from '../../database/database.ts';
import { insertPostings, insertSegment, mayBeIndexed, renumberParagraphs } from './index-paragraphs-store.ts';
import { buildSegment, type IndexedParagraph } from './postings.ts';

/** Where the paragraphs belong. `documentName` counts as a name of the text in references (行政复议法(2023-09-01).md). */
export interface IndexPlace {
  datasetId: string;
  documentId: string;
  documentName: string;
}

/** So many paragraphs are tokenised and written at once; more in one segment would only take more memory. */
const SEGMENT_PARAGRAPHS = 2_000;

/**
 * Writes the keyword search data of stored paragraphs, in place of what they had; they can be found once the surrounding
 * transaction commits. `paragraphs`: of one document, as stored. Only adds rows that are nobody else's, so two documents
 * of a dataset can be indexed at once. Call `compactSearchData` after the commit. Throws what the database throws.
 */
export async function indexParagraphs(
  database: Database,
  place: IndexPlace,
  paragraphs: readonly IndexedParagraph[],
): Promise<void> {
  for (let start = 0; start < paragraphs.length; start += SEGMENT_PARAGRAPHS) {
    const batch = paragraphs.slice(start, start + SEGMENT_PARAGRAPHS);
    await database.transaction(async () => {
      const current = await withUnusedNumbers(database, place.datasetId, batch);
      const segment = buildSegment(place.documentName, current);
      const segmentId = await insertSegment(database, place.datasetId, segment);
      await insertPostings(database, { datasetId: place.datasetId, segmentId }, segment.lists);
    });
  }
}

/** Postings cannot be taken out of lists cheaply; a paragraph indexed again gets a new number instead. */
async function withUnusedNumbers(
  database: Database,
  datasetId: string,
  paragraphs: readonly IndexedParagraph[],
): Promise<IndexedParagraph[]> {
  const minNumber = paragraphs.reduce((least, { number }) => Math.min(least, number), Number.MAX_SAFE_INTEGER);
  if (!(await mayBeIndexed(database, datasetId, minNumber))) return [...paragraphs];
  const ids = paragraphs.map((paragraph) => paragraph.id);
  const numbers = await renumberParagraphs(database, ids);
  return paragraphs.flatMap((paragraph) => {
    const number = numbers.get(paragraph.id);
    return number === undefined ? [] : [{ ...paragraph, number }];
  });
}
