import type { Database } from '../../database/database.ts';
import type { Embedder } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { splitForEmbedding } from '../splitting/split-for-embedding.ts';
import { listUnembedded, type UnembeddedParagraph } from './embed-paragraphs-store.ts';
import { indexVectors } from './index-vectors.ts';
import { type ParagraphVector, replaceVectors } from './index-vectors-store.ts';

/** Paragraphs sent to the provider and stored together. */
const BATCH_PARAGRAPHS = 32;
const FOREIGN_KEY_VIOLATION = '23503';
/** Tells how long the model's vectors are; the cache has it after the first time. */
const PROBE = 'dimensions';

interface Target {
  database: Database;
  embedder: Embedder;
}

/**
 * Gives every paragraph without vectors of this model and length its vectors, batch by batch; what is done
 * stays when it ends early. A paragraph that the provider refuses goes without. Throws what else the provider
 * throws, TooManyDimensionsError, and when `signal` fires.
 */
export async function embedParagraphs(target: Target, signal: AbortSignal): Promise<void> {
  const { database, embedder } = target;
  const [probe] = await embedder.embed([PROBE], signal);
  const wanted = { model: embedder.model, dimensions: probe?.length ?? 0 };
  const refused = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const paragraphs = await listUnembedded(database, wanted, { skip: [...refused], limit: BATCH_PARAGRAPHS });
    if (paragraphs.length === 0) return;
    for (const id of await embedBatch(target, paragraphs, signal)) refused.add(id);
  }
}

/** Embeds and stores a batch, one by one where the provider refuses it whole. Returns the ids that were refused. */
async function embedBatch(
  target: Target,
  paragraphs: readonly UnembeddedParagraph[],
  signal: AbortSignal,
): Promise<string[]> {
  try {
    await store(target, await vectorsOf(paragraphs, target.embedder, signal));
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (paragraphs.length === 1) return paragraphs.map((paragraph) => paragraph.id);
    const refused: string[] = [];
    for (const paragraph of paragraphs) refused.push(...(await embedBatch(target, [paragraph], signal)));
    // Everything refused is no matter of one text: the settings are wrong, and the caller says so.
    if (refused.length === paragraphs.length) throw error;
    return refused;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ModelError && (error.code === 'bad_request' || error.code === 'context_length');
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

async function store({ database, embedder }: Target, vectors: readonly ParagraphVector[]): Promise<void> {
  try {
    await database.transaction(() => replaceVectors(database, embedder.model, vectors));
  } catch (error) {
    // A paragraph of the batch was deleted meanwhile; the next batch is read without it.
    if ((error as { code?: unknown }).code === FOREIGN_KEY_VIOLATION) return;
    throw error;
  }
  const dimensions = vectors[0]?.embedding.length ?? 0;
  if (dimensions > 0) await indexVectors(database, dimensions);
}
