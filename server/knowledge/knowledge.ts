import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Embedder } from '../models/chat-model.ts';
import { type FolderProgress, type FolderReport, indexFolder } from './index-folder.ts';
import { compactSearchData } from './indexing/compact-search-data.ts';
import { embedParagraphs } from './indexing/embed-paragraphs.ts';
import { indexParagraphs } from './indexing/index-paragraphs.ts';
import { KnowledgeStore } from './knowledge-store.ts';
import { DocumentPreparer } from './parsing/document-preparer.ts';
import { type SearchHit, type SearchRequest, search } from './retrieval/search.ts';

/** A provider that fails is asked again after half a minute, then a minute, and so on; a later folder starts anew. */
const EMBEDDING_ATTEMPTS = 10;
const EMBEDDING_PAUSE_MS = 30_000;

/** What this feature offers to the others: folders in, paragraphs out. */
export class Knowledge {
  readonly #database: Database;
  readonly #embedder: Embedder | null;
  readonly #log: Logger;
  readonly #store: KnowledgeStore;
  /** Folders are indexed one after another: two runs over one folder would do the same work twice. */
  #indexing: Promise<unknown> = Promise.resolve();
  #embedding: Promise<void> | undefined;
  #background: Promise<void> | undefined;

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

  /**
   * See `embedParagraphs`; a second call joins the run that is under way. Resolves at once where no embedding
   * model is configured.
   */
  embed(signal: AbortSignal): Promise<void> {
    if (this.#embedder === null) return Promise.resolve();
    this.#embedding ??= embedParagraphs({ database: this.#database, embedder: this.#embedder }, signal).finally(() => {
      this.#embedding = undefined;
    });
    return this.#embedding;
  }

  /** Builds missing vectors while searches go on by keywords (R2); tries again when the provider fails. */
  embedInBackground(signal: AbortSignal): void {
    if (this.#embedder === null || signal.aborted) return;
    this.#background ??= this.#embedUntilDone(signal).finally(() => {
      this.#background = undefined;
    });
  }

  /** The one search of chat, hit test, command line and API. */
  async search(request: SearchRequest): Promise<SearchHit[]> {
    const { hits, notice } = await search({ database: this.#database, embedder: this.#embedder }, request);
    if (notice) this.#log.warn({ notice }, 'a search fell back');
    return hits;
  }

  /** Waits for what is under way; the caller's signals have told it to end. */
  async close(): Promise<void> {
    await this.#indexing;
    await this.#background;
    await this.#embedding?.catch(() => {});
  }

  async #embedUntilDone(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; attempt <= EMBEDDING_ATTEMPTS && !signal.aborted; attempt += 1) {
      try {
        return await this.embed(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ err: error, attempt }, 'vectors could not be built; searching by keywords meanwhile');
        await setTimeout(EMBEDDING_PAUSE_MS * attempt, undefined, { signal }).catch(() => {});
      }
    }
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
          log: this.#log,
        },
        folder,
        run,
      );
    } finally {
      await preparer.close();
    }
  }
}
