import { beforeEach, expect, it } from 'vitest';
import type { Database } from '../../database/database.ts';
import type { Embedder } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { describeOnDatabases } from '../../testing/databases.ts';
import { KnowledgeStore } from '../knowledge-store.ts';
import { embedParagraphs } from './embed-paragraphs.ts';

const { signal } = new AbortController();

/** Vectors of so many numbers; texts with 拒绝 are refused. */
function embedder(dimensions: number): Embedder & { texts: string[] } {
  const texts: string[] = [];
  return {
    model: 'test',
    texts,
    embed: async (wanted) => {
      if (wanted.some((text) => text.includes('拒绝'))) {
        throw new ModelError({ code: 'bad_request', message: 'refused', retryable: false });
      }
      texts.push(...wanted);
      return wanted.map((text) => Array.from({ length: dimensions }, (_, index) => text.length + index));
    },
  };
}

describeOnDatabases('embedParagraphs', (open) => {
  let database: Database;
  let opening: Promise<Database> | undefined;

  beforeEach(async () => {
    opening ??= open();
    database = await opening;
    await database.query('delete from max_kb_dataset');
  });

  async function addParagraphs(...contents: string[]): Promise<void> {
    const store = new KnowledgeStore(database);
    const datasetId = await store.ensureFolderDataset({ folder: '/x', name: 'x' });
    const documentId = await store.insertDocument({
      datasetId,
      name: 'x.md',
      characters: 1,
      meta: { path: 'x.md', size: 1, mtime_ms: 1, sha256: '', index_version: 1 },
    });
    const paragraphs = contents.map((content) => ({ title: '', content, tokenCount: 1 }));
    await store.insertParagraphs({ datasetId, documentId }, paragraphs);
  }

  async function vectors(): Promise<{ content: string; dimensions: number }[]> {
    return database.query(
      `select p.content, e.dimensions from max_kb_embedding e join max_kb_paragraph p on p.id = e.paragraph_id order by p.number`,
    );
  }

  it('R2 gives each paragraph its vectors once', async () => {
    await addParagraphs('甲', '乙');
    const model = embedder(3);

    await embedParagraphs({ database, embedder: model }, signal);
    await embedParagraphs({ database, embedder: model }, signal);

    expect(await vectors()).toEqual([
      { content: '甲', dimensions: 3 },
      { content: '乙', dimensions: 3 },
    ]);
    expect(model.texts.filter((text) => text === '甲')).toHaveLength(1);
  });

  it('embeds anew when the length of the vectors changed', async () => {
    await addParagraphs('甲');
    await embedParagraphs({ database, embedder: embedder(3) }, signal);

    await embedParagraphs({ database, embedder: embedder(4) }, signal);

    expect(await vectors()).toEqual([{ content: '甲', dimensions: 4 }]);
  });

  it('goes on past a text that the provider refuses', async () => {
    await addParagraphs('甲', '拒绝', '乙');

    await embedParagraphs({ database, embedder: embedder(3) }, signal);

    expect((await vectors()).map((vector) => vector.content)).toEqual(['甲', '乙']);
  });

  it('ends when the provider refuses everything', async () => {
    await addParagraphs('拒绝一', '拒绝二');

    await expect(embedParagraphs({ database, embedder: embedder(3) }, signal)).rejects.toThrow('refused');
  });

  it('keeps what it did when it is aborted', async () => {
    await addParagraphs(...Array.from({ length: 40 }, (_, index) => `段落${index}`));
    const controller = new AbortController();
    const model = embedder(3);
    const aborting: Embedder = {
      model: 'test',
      embed: (texts, given) => {
        if (model.texts.length > 1) controller.abort(new Error('enough'));
        given.throwIfAborted();
        return model.embed(texts, given);
      },
    };

    await expect(embedParagraphs({ database, embedder: aborting }, controller.signal)).rejects.toThrow('enough');
    expect(await vectors()).toHaveLength(32);
  });
});
