import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../database/database.ts';
import type { Embedder } from '../../models/chat-model.ts';
import { describeOnDatabases } from '../../testing/databases.ts';
import { hashedEmbedding } from '../../testing/hashed-embedding.ts';
import { addDataset, addDocument, type ShelvedDocument } from '../../testing/library.ts';
import { indexParagraphs } from '../indexing/index-paragraphs.ts';
import { replaceVectors } from '../indexing/index-vectors-store.ts';
import { NoEmbedderError, type SearchRequest, search } from './search.ts';

const DIMENSIONS = 64;
const embedder: Embedder = {
  model: 'hashed',
  embed: async (texts) => texts.map((text) => hashedEmbedding(text, DIMENSIONS)),
};
const broken: Embedder = {
  model: 'hashed',
  embed: async () => {
    throw new Error('the model is away');
  },
};

const LAW = {
  name: '行政复议法(2023-09-01).md',
  paragraphs: [
    ['中华人民共和国行政复议法 第二章 第十九条', '法律、行政法规规定应当先向行政复议机关申请行政复议。'],
    [
      '中华人民共和国行政复议法 第二章 第二十条',
      '公民可以自知道该行政行为之日起六十日内提出行政复议申请。因不可抗力耽误的，期限继续计算。',
    ],
    [
      '中华人民共和国行政复议法 第二章 第二十一条',
      '因不动产提出的行政复议申请自行政行为作出之日起超过二十年的，不予受理。',
    ],
  ],
} as const;
const OLD_LAW = {
  name: '行政复议法(2017-09-01).md',
  paragraphs: [['中华人民共和国行政复议法 第三章 第二十条', '行政复议机关受理行政复议申请，不得收取费用。']],
} as const;
const MANUAL = {
  name: 'manual.pdf',
  paragraphs: [
    ['3.2.1 Install', 'Run the installer on Windows Server 2022. Needs .NET 8 and GB/T 22239-2019 approval.'],
    ['3.2.2 Remove', 'Removing the service keeps all settings.'],
    ['Prices', 'Qwen3-32B costs 20 元 a day; version v2.10 is free. Contact sales@example.org. 增值税另计。'],
    ['第二十条', '食堂开放时间为十一点。'],
  ],
} as const;

describeOnDatabases('search', (open) => {
  let database: Database;
  let law: ShelvedDocument;
  let oldLaw: ShelvedDocument;
  let manual: ShelvedDocument;
  let datasetIds: string[];

  beforeAll(async () => {
    database = await open();
    const laws = await addDataset(database, 'laws');
    const manuals = await addDataset(database, 'manuals');
    law = await addDocument(database, laws, LAW);
    oldLaw = await addDocument(database, laws, OLD_LAW);
    manual = await addDocument(database, manuals, MANUAL);
    datasetIds = [laws, manuals];
  });

  const run = (query: string, changes: Partial<SearchRequest> & { embedder?: Embedder | null } = {}) => {
    const { embedder: used = null, ...request } = changes;
    return search(
      { database, embedder: used },
      {
        query,
        datasetIds,
        topN: 5,
        mode: 'keywords',
        similarity: 0,
        signal: new AbortController().signal,
        ...request,
      },
    );
  };
  const titles = async (query: string, changes: Parameters<typeof run>[1] = {}) =>
    (await run(query, changes)).hits.map((hit) => hit.title);

  it('finds by words, with the names around and scores in 0–1 (R6, R122)', async () => {
    const { hits, mode, notice } = await run('不可抗力耽误期限怎么办');

    expect({ mode, notice }).toEqual({ mode: 'keywords', notice: null });
    expect(hits[0]).toMatchObject({
      paragraphId: law.paragraphs[1]?.id,
      documentName: LAW.name,
      datasetName: 'laws',
      position: 1,
      isActive: true,
      explanation: { keyword: { rank: 1 }, vector: null, reference: null },
    });
    for (const hit of hits) {
      expect(hit.similarity).toBeGreaterThan(0);
      expect(hit.similarity).toBeLessThanOrEqual(1);
    }
  });

  it.each([
    ['Qwen3-32B', 'Prices'],
    ['qwen3 32b 价格', 'Prices'],
    ['Ｑｗｅｎ３－３２Ｂ', 'Prices'],
    ['v2.10', 'Prices'],
    ['sales@example.org', 'Prices'],
    ['GB/T 22239-2019', '3.2.1 Install'],
    ['GB/T22239', '3.2.1 Install'],
    ['.NET', '3.2.1 Install'],
    ['how do I install it?', '3.2.1 Install'],
    ['installed servers', '3.2.1 Install'],
    ['税', 'Prices'],
    ['😀 增值税 🎉', 'Prices'],
    ['一天二十元 day', 'Prices'],
    ['section 3.2.2', '3.2.2 Remove'],
    ['行政復議 申请 60日', LAW.paragraphs[1][0]],
  ])('finds %s', async (query, title) => {
    expect((await titles(query))[0]).toBe(title);
  });

  it.each(["'; drop table max_kb_paragraph; --", '%', '{}', '"\\', '$1', '\u0000合同\ud800', '？？？'])(
    'takes %j for text',
    async (query) => {
      await expect(run(query)).resolves.toMatchObject({ mode: 'keywords' });
    },
  );

  it.each(['行政复议法第二十条', '《中华人民共和国行政复议法》第20条', '请问行政复议法第20条第一款的内容'])(
    'puts all versions of the article of %s first',
    async (query) => {
      const { hits } = await run(query);

      expect(new Set(hits.slice(0, 2).map((hit) => hit.paragraphId))).toEqual(
        new Set([law.paragraphs[1]?.id, oldLaw.paragraphs[0]?.id]),
      );
      expect(hits[0]?.explanation.reference).toEqual({ number: '20', exact: true });
    },
  );

  it('puts articles of any text first for a number alone', async () => {
    const found = await titles('第20条');

    expect(found.slice(0, 3).every((title) => title.endsWith('第二十条'))).toBe(true);
  });

  it('answers the other words of a question with a reference, too', async () => {
    const found = await titles('行政复议法第二十一条和食堂开放时间');

    expect(found[0]).toBe(LAW.paragraphs[2][0]);
    expect(found).toContain('第二十条');
  });

  it('lets no foreign article lead when the named law is missing', async () => {
    expect((await run('海商法第十九条')).hits.every((hit) => hit.explanation.reference?.exact !== true)).toBe(true);
  });

  it('searches only the datasets asked for', async () => {
    expect(await titles('行政复议', { datasetIds: [manual.datasetId] })).toEqual([]);
    const { hits } = await run('第20条', { datasetIds: [manual.datasetId] });

    expect(hits[0]?.title).toBe('第二十条');
    expect(new Set(hits.map((hit) => hit.datasetId))).toEqual(new Set([manual.datasetId]));
  });

  it('asks nothing of the database without datasets', async () => {
    const silent: Database = { ...database, query: () => Promise.reject(new Error('asked')) };
    const request = { query: 'x', datasetIds: [], topN: 5, similarity: 0, signal: new AbortController().signal };

    for (const mode of ['keywords', 'blend', 'embedding'] as const) {
      expect((await search({ database: silent, embedder }, { ...request, mode })).hits).toEqual([]);
    }
  });

  it('leaves out what is excluded, and fills its place (R14)', async () => {
    const [first] = (await run('行政复议申请', { topN: 1 })).hits;
    const [next] = (await run('行政复议申请', { topN: 1, excludeParagraphIds: [first?.paragraphId ?? ''] })).hits;

    expect(next).toBeDefined();
    expect(next?.paragraphId).not.toBe(first?.paragraphId);
  });

  it('never finds what is disabled or deleted, and finds it again when enabled', async () => {
    const datasetId = await addDataset(database);
    const document = await addDocument(database, datasetId, {
      name: 'a.md',
      paragraphs: [
        ['第三条', '独角兽甲'],
        ['第三条', '独角兽乙'],
      ],
    });
    const count = async () =>
      [await titles('独角兽', { datasetIds: [datasetId] }), await titles('第三条', { datasetIds: [datasetId] })].map(
        (found) => found.length,
      );

    await database.query('update max_kb_paragraph set is_active = false where id = $1', [document.paragraphs[0]?.id]);
    expect(await count()).toEqual([1, 1]);
    await database.query('update max_kb_document set is_active = false where id = $1', [document.documentId]);
    expect(await count()).toEqual([0, 0]);
    await database.query('update max_kb_document set is_active = true where id = $1', [document.documentId]);
    expect(await count()).toEqual([1, 1]);
    await database.query('delete from max_kb_paragraph where id = $1', [document.paragraphs[1]?.id]);
    expect(await count()).toEqual([0, 0]);
    await database.query('update max_kb_paragraph set is_active = true where document_id = $1', [document.documentId]);
    expect(await count()).toEqual([1, 1]);
    await database.query('delete from max_kb_document where id = $1', [document.documentId]);
    expect(await count()).toEqual([0, 0]);
  });

  it('reaches past many disabled paragraphs', async () => {
    const datasetId = await addDataset(database);
    const many = Array.from({ length: 900 }, () => ['', '斑马 斑马 斑马'] as const);
    const hidden = await addDocument(database, datasetId, { name: 'hidden.md', paragraphs: many });
    await addDocument(database, datasetId, { name: 'shown.md', paragraphs: [['', '动物园里有斑马，也有别的动物']] });
    await database.query('update max_kb_document set is_active = false where id = $1', [hidden.documentId]);

    expect((await run('斑马', { datasetIds: [datasetId] })).hits.map((hit) => hit.documentName)).toEqual(['shown.md']);
  });

  it('finds by the new text only when a paragraph is indexed again', async () => {
    const datasetId = await addDataset(database);
    const document = await addDocument(database, datasetId, { name: 'a.md', paragraphs: [['', '旧词麒麟']] });
    const changed = document.paragraphs.map((paragraph) => ({ ...paragraph, content: '新词凤凰' }));

    await indexParagraphs(database, document, changed);

    expect(await titles('麒麟', { datasetIds: [datasetId] })).toEqual([]);
    expect(await titles('凤凰', { datasetIds: [datasetId] })).toHaveLength(1);
  });

  it('indexes documents of one dataset at once', async () => {
    const datasetId = await addDataset(database);
    const names = Array.from({ length: 6 }, (_, index) => `${index}.md`);
    await Promise.all(
      names.map((name) =>
        addDocument(database, datasetId, {
          name,
          paragraphs: [
            ['', '企鹅'],
            ['', '企鹅 北极熊'],
          ],
        }),
      ),
    );

    expect(await titles('企鹅', { datasetIds: [datasetId], topN: 50 })).toHaveLength(12);
    const [row] = await database.query<{ n: number }>(
      'select sum(paragraphs) as n from max_kb_search_segment where dataset_id = $1',
      [datasetId],
    );
    expect(row?.n).toBe(12);
  });

  it('answers a query of 4,000 tokens', async () => {
    const query = `${'行政复议申请期限与不可抗力'.repeat(300)} ${Array.from({ length: 1_000 }, (_, index) => `word${index}`).join(' ')}`;

    expect((await run(query)).hits.length).toBeGreaterThan(0);
  });

  it('orders ties the same way every time', async () => {
    const datasetId = await addDataset(database);
    const same = Array.from({ length: 8 }, (_, index) => [`${index}`, '完全相同'] as const);
    await addDocument(database, datasetId, { name: 'a.md', paragraphs: same });

    expect(await titles('完全相同', { datasetIds: [datasetId], topN: 8 })).toEqual(same.map(([title]) => title));
  });

  it('stops when the signal has fired', async () => {
    await expect(run('合同', { signal: AbortSignal.abort() })).rejects.toThrow();
  });

  const withVectors = async () => {
    const datasetId = await addDataset(database);
    const document = await addDocument(database, datasetId, {
      name: 'a.md',
      paragraphs: [
        ['', '苹果 香蕉'],
        ['', '飞机 火车'],
        ['', '苹果 飞机'],
      ],
    });
    await replaceVectors(
      database,
      'hashed',
      document.paragraphs.flatMap(({ id, content }) =>
        [content, '无关'].map((text) => ({
          paragraphId: id,
          documentId: document.documentId,
          datasetId,
          source: 'paragraph' as const,
          embedding: hashedEmbedding(text, DIMENSIONS),
        })),
      ),
    );
    return { datasetId, document };
  };

  it('finds by vectors, each paragraph once by its best chunk, strictly above the threshold (R122)', async () => {
    const { datasetId } = await withVectors();
    const request = { datasetIds: [datasetId], mode: 'embedding' as const, embedder };
    const { hits } = await run('苹果 香蕉', { ...request, similarity: -1 });
    const scores = hits.map((hit) => hit.similarity);

    expect(hits.map((hit) => hit.content).slice(0, 2)).toEqual(['苹果 香蕉', '苹果 飞机']);
    expect(hits).toHaveLength(3);
    expect(scores[0]).toBeCloseTo(1, 5);
    expect((await run('苹果 香蕉', { ...request, similarity: scores[1] ?? 0 })).hits).toHaveLength(1);
  });

  it('never finds the vectors of disabled paragraphs', async () => {
    const { datasetId, document } = await withVectors();
    await database.query('update max_kb_paragraph set is_active = false where id = $1', [document.paragraphs[0]?.id]);

    const { hits } = await run('苹果 香蕉', { datasetIds: [datasetId], mode: 'embedding', embedder, similarity: -1 });

    expect(hits.map((hit) => hit.paragraphId)).not.toContain(document.paragraphs[0]?.id);
  });

  it('blends both legs and filters only the vectors by the threshold', async () => {
    const { datasetId } = await withVectors();
    const result = await run('苹果 香蕉', { datasetIds: [datasetId], mode: 'blend', embedder, similarity: 0.99 });

    expect(result.mode).toBe('blend');
    expect(result.hits[0]?.explanation).toMatchObject({ keyword: { rank: 1 }, vector: { rank: 1 } });
    expect(result.hits).toHaveLength(2);
  });

  it('falls back from blend to keywords, and tells of a failure only', async () => {
    const { datasetId } = await withVectors();

    expect(await run('苹果', { datasetIds: [datasetId], mode: 'blend' })).toMatchObject({
      mode: 'keywords',
      notice: null,
    });
    expect(await run('合同', { mode: 'blend', embedder })).toMatchObject({ mode: 'keywords', notice: null });
    expect(await run('苹果', { datasetIds: [datasetId], mode: 'blend', embedder: broken })).toMatchObject({
      mode: 'keywords',
      notice: expect.stringContaining('the model is away'),
    });
  });

  it('fails in embedding mode when it cannot embed', async () => {
    const { datasetId } = await withVectors();
    const request = { datasetIds: [datasetId], mode: 'embedding' as const };

    await expect(run('苹果', request)).rejects.toThrow(NoEmbedderError);
    await expect(run('苹果', { ...request, embedder: broken })).rejects.toThrow('the model is away');
  });
});
