import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../database/database.ts';
import { describeOnDatabases } from '../../testing/databases.ts';
import { addDataset, addDocument } from '../../testing/library.ts';
import { searchKeywords } from '../retrieval/keyword-leg.ts';
import { chooseSegments, compactSearchData } from './compact-search-data.ts';

it('merges many small segments and leaves few alone', () => {
  const small = Array.from({ length: 48 }, (_, id) => ({ id, paragraphs: 10 }));

  expect(chooseSegments(small, 480)).toHaveLength(48);
  expect(chooseSegments(small.slice(1), 470)).toEqual([]);
});

it('rewrites all segments when a fifth is dead', () => {
  const segments = [
    { id: 1, paragraphs: 50_000 },
    { id: 2, paragraphs: 100 },
  ];

  expect(chooseSegments(segments, 39_000)).toEqual(segments);
  expect(chooseSegments(segments, 45_000)).toEqual([]);
});

describeOnDatabases('compactSearchData', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  const scores = async (datasetId: string) => {
    const leg = await searchKeywords(database, {
      query: '房屋租赁合同',
      datasetIds: [datasetId],
      excludeParagraphIds: [],
      limit: 100,
    });
    return leg.hits.map(({ paragraphId, score }) => [paragraphId, Number(score.toFixed(9))]);
  };
  const segments = (datasetId: string) =>
    database.query<{ paragraphs: number }>('select paragraphs from max_kb_search_segment where dataset_id = $1', [
      datasetId,
    ]);

  it('leaves every score as it was', async () => {
    const datasetId = await addDataset(database);
    for (let number = 0; number < 50; number += 1) {
      await addDocument(database, datasetId, {
        name: `${number}.md`,
        paragraphs: [['', `房屋租赁 ${'合同 '.repeat(number % 5)}`]],
      });
    }
    const before = await scores(datasetId);

    await compactSearchData(database, datasetId);

    expect(await segments(datasetId)).toHaveLength(1);
    expect(await scores(datasetId)).toEqual(before);
  });

  it('forgets what was deleted, in lists and statistics', async () => {
    const datasetId = await addDataset(database);
    const kept = await addDocument(database, datasetId, { name: 'kept.md', paragraphs: [['', '租赁合同']] });
    const gone = await addDocument(database, datasetId, {
      name: 'gone.md',
      paragraphs: [
        ['', '租赁合同'],
        ['', '劳动合同'],
      ],
    });
    await database.query('delete from max_kb_document where id = $1', [gone.documentId]);

    await compactSearchData(database, datasetId);

    expect(await segments(datasetId)).toEqual([{ paragraphs: 1 }]);
    expect((await scores(datasetId)).map(([id]) => id)).toEqual([kept.paragraphs[0]?.id]);
    const [row] = await database.query<{ n: number }>(
      `select count(*) as n from max_kb_search_posting where dataset_id = $1 and term = '劳动'`,
      [datasetId],
    );
    expect(row?.n).toBe(0);
  });

  it('ends when everything was deleted', async () => {
    const datasetId = await addDataset(database);
    const gone = await addDocument(database, datasetId, { name: 'gone.md', paragraphs: [['', '租赁合同']] });
    await database.query('delete from max_kb_document where id = $1', [gone.documentId]);

    await compactSearchData(database, datasetId);

    expect(await segments(datasetId)).toEqual([]);
  });
});
