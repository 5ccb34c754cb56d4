import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../database/database.ts';
import { describeOnDatabases } from '../../testing/databases.ts';
import { addDataset, addDocument, type ShelvedDocument } from '../../testing/library.ts';
import { EXACT_SCAN_ROWS } from '../indexing/index-vectors.ts';
import { ensureVectorIndex, replaceVectors } from '../indexing/index-vectors-store.ts';
import { TooManyDimensionsError, vectorType } from '../indexing/vector-dimensions.ts';
import { countDatasetVectors, searchVectors } from './vector-leg.ts';

describe('vectorType', () => {
  it('takes half precision above 2,000 dimensions and nothing above 4,000 (R127)', () => {
    expect(vectorType(2_000).type).toBe('vector(2000)');
    expect(vectorType(2_001).type).toBe('halfvec(2001)');
    expect(vectorType(4_000).type).toBe('halfvec(4000)');
    expect(() => vectorType(4_001)).toThrow(TooManyDimensionsError);
    expect(() => vectorType(0)).toThrow(TooManyDimensionsError);
  });
});

/** Deterministic and different for each seed. */
const direction = (seed: number, dimensions: number): number[] =>
  Array.from({ length: dimensions }, (_, index) => Math.sin(seed * 12.9898 + index * 78.233));

describeOnDatabases('searchVectors', (open) => {
  let database: Database;
  let document: ShelvedDocument;

  beforeAll(async () => {
    database = await open();
    const datasetId = await addDataset(database);
    const paragraphs = Array.from({ length: 80 }, (_, index) => ['', `${index}`] as const);
    document = await addDocument(database, datasetId, { name: 'a.md', paragraphs });
  });

  const store = (model: string, dimensions: number) =>
    replaceVectors(
      database,
      model,
      document.paragraphs.map(({ id }, index) => ({
        paragraphId: id,
        documentId: document.documentId,
        datasetId: document.datasetId,
        source: 'paragraph' as const,
        embedding: direction(index, dimensions),
      })),
    );
  const request = (model: string, dimensions: number) => ({
    embedding: direction(7.3, dimensions),
    model,
    datasetIds: [document.datasetId],
    excludeParagraphIds: [],
    similarity: -1,
    limit: 10,
  });

  it.each([
    ['vector', 16],
    ['halfvec', 2_100],
  ])('finds by a %s index what comparing all finds', async (_, dimensions) => {
    const model = `m${dimensions}`;
    await store(model, dimensions);
    await ensureVectorIndex(database, dimensions);

    const exact = await searchVectors(database, request(model, dimensions), 80);
    const indexed = await searchVectors(database, request(model, dimensions), EXACT_SCAN_ROWS + 1);

    expect(exact).toHaveLength(10);
    expect(indexed.map((hit) => hit.paragraphId)).toEqual(exact.map((hit) => hit.paragraphId));
  });

  it('searches vectors of the asked model only, and replaces those of a paragraph', async () => {
    await store('twice', 8);
    await store('twice', 8);

    const datasetIds = [document.datasetId];
    expect(await countDatasetVectors(database, { datasetIds, model: 'twice' })).toBe(80);
    expect(await countDatasetVectors(database, { datasetIds, model: 'other' })).toBe(0);
    expect(await searchVectors(database, request('other', 8), 1)).toEqual([]);
  });

  it('refuses vectors that cannot be searched before anything is written', async () => {
    await expect(store('long', 4_001)).rejects.toThrow(TooManyDimensionsError);

    expect(await countDatasetVectors(database, { datasetIds: [document.datasetId], model: 'long' })).toBe(0);
  });
});
