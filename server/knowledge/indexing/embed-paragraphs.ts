import type { Database } from '../../database/database.ts';
import type { Embedder } from '../../models/chat-model.ts';
import { splitForEmbedding } from '../splitting/split-for-embedding.ts';
import { countUnembedded, listUnembedded, type UnembeddedParagraph } from './embed-paragraphs-store.ts';
import { indexVectors } from './index-vectors.ts';
import { type ParagraphVector, replaceVectors } from './index-vectors-store.ts';

/** Paragraphs sent to the provider and stored together. */
const BATCH_PARAGRAPHS = 32;
const FOREIGN_KEY_VIOLATION = '23503';

export interface EmbeddingProgress {
  done: number;
  total: number;
}

/**
 * Gives every paragraph without vectors of this model its vectors, batch by batch; what is done stays when it
 * ends early. Search goes on by keywords meanwhile (R2). Returns how many paragraphs got vectors. Throws what
 * the provider throws, TooManyDimensionsError, and when `signal` fires.
 */
export async function embedParagraphs(
  { database, embedder }: { database: Database; embedder: Embedder },
  run: { onProgress(progress: EmbeddingProgress): void; signal: AbortSignal },
): Promise<number> {
  const total = await countUnembedded(database, embedder.model);
  let done = 0;
  for (;;) {
    run.signal.throwIfAborted();
    const paragraphs = await listUnembedded(database, embedder.model, BATCH_PARAGRAPHS);
    if (paragraphs.length === 0) return done;
    const vectors = await vectorsOf(paragraphs, embedder, run.signal);
    await store(database, embedder.model, vectors);
    done += paragraphs.length;
    run.onProgress({ done, total: Math.max(total, done) });
  }
}

async function vectorsOf(
  paragraphs: readonly UnembeddedParagraph[],
  embedder: Embedder,
  signal: AbortSignal,
): Promise<ParagraphVector[]> {
  const chunks = paragraphs.flatMap((paragraph) =>
    splitForEmbedding(`${paragraph.title}\n${paragraph.content}`).map((text) => ({ paragraph, text })),
  );
  const embeddings = await embedder.embed(
    chunks.map((chunk) => chunk.text),
    signal,
  );
  return chunks.map(({ paragraph }, index) => ({
    paragraphId: paragraph.id,
    documentId: paragraph.documentId,
    datasetId: paragraph.datasetId,
    source: 'paragraph',
    embedding: embeddings[index] ?? [],
  }));
}

async function store(database: Database, model: string, vectors: readonly ParagraphVector[]): Promise<void> {
  try {
    await database.transaction(() => replaceVectors(database, model, vectors));
  } catch (error) {
    // A paragraph of the batch was deleted meanwhile; the next batch is read without it.
    if ((error as { code?: unknown }).code === FOREIGN_KEY_VIOLATION) return;
    throw error;
  }
  const dimensions = vectors[0]?.embedding.length ?? 0;
  if (dimensions > 0) await indexVectors(database, dimensions);
}
