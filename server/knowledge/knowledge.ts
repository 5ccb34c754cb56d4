import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Embedder } from '../models/chat-model.ts';
import { type FolderProgress, type FolderReport, indexFolder } from './index-folder.ts';
import { compactSearchData } from './indexing/compact-search-data.ts';
import { type EmbeddingProgress, embedParagraphs } from './indexing/embed-paragraphs.ts';
import { indexParagraphs } from './indexing/index-paragraphs.ts';
import { KnowledgeStore } from './knowledge-store.ts';
import { DocumentPreparer } from './parsing/document-preparer.ts';
import { type SearchHit, type SearchRequest, search } from './retrieval/search.ts';

/** What this feature offers to the others: folders in, paragraphs out. */
export class Knowledge {
  readonly #database: Database;
  readonly #embedder: Embedder | null;
  readonly #log: Logger;
  readonly #store: KnowledgeStore;
  /** Folders are indexed one after another: two runs over one folder would do the same work twice. */
  #indexing: Promise<unknown> = Promise.resolve();

  constructor(ports: { database: Database; embedder: Embedder | null; log: Logger }) {
    this.#database = ports.database;
    this.#embedder = ports.embedder;
    this.#log = ports.log;
    this.#store = new KnowledgeStore(ports.database);
  }

  /** See `indexFolder`; a second call waits for the first. */
  indexFolder(
    folder: string,
    run: { onProgress(progress: FolderProgress): void; signal: AbortSignal },
  ): Promise<FolderReport> {
    const report = this.#indexing.then(() => this.#indexNow(folder, run));
    this.#indexing = report.catch(() => {});
    return report;
  }

  /** See `embedParagraphs`. Returns 0 at once where no embedding model is configured. */
  async embed(run: { onProgress(progress: EmbeddingProgress): void; signal: AbortSignal }): Promise<number> {
    if (this.#embedder === null) return 0;
    return embedParagraphs({ database: this.#database, embedder: this.#embedder }, run);
  }

  /** The one search of chat, hit test, command line and API. */
  async search(request: SearchRequest): Promise<SearchHit[]> {
    const { hits, notice } = await search({ database: this.#database, embedder: this.#embedder }, request);
    if (notice) this.#log.warn({ notice }, 'a search fell back');
    return hits;
  }

  /** Waits for the folder that is being indexed. */
  async close(): Promise<void> {
    await this.#indexing;
  }

  async #indexNow(folder: string, run: { onProgress(progress: FolderProgress): void; signal: AbortSignal }) {
    const preparer = new DocumentPreparer();
    try {
      return await indexFolder(
        {
          database: this.#database,
          store: this.#store,
          preparer,
          indexParagraphs: (place, paragraphs) => indexParagraphs(this.#database, place, paragraphs),
          compact: async (datasetId) => {
            await compactSearchData(this.#database, datasetId);
          },
        },
        folder,
        run,
      );
    } finally {
      await preparer.close();
    }
  }
}
