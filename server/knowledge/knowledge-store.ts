import { v7 as uuidv7 } from 'uuid';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import { storableJson, storableText } from '../text/storable.ts';
import type { PreparedParagraph } from './parsing/prepare-document.ts';

/** What a document remembers of the file it came from. */
export interface DocumentSource {
  path: string;
  size: number;
  mtime_ms: number;
  sha256: string;
  /** The version of parsing and indexing that read it. */
  index_version: number;
}

export interface StoredDocument extends DocumentSource {
  id: string;
}

export interface NewDocument {
  datasetId: string;
  name: string;
  characters: number;
  meta: DocumentSource & Record<string, unknown>;
}

/** A paragraph as it was stored, with what an index needs. `number`: small, unique in the database. */
export interface StoredParagraph extends PreparedParagraph {
  id: string;
  number: number;
}

/** A statement carries at most this much text: big parameters are slow over the embedded database's socket. */
const MAX_BATCH_CHARACTERS = 400_000;

/** Datasets, documents and paragraphs in the database. */
export class KnowledgeStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The dataset that mirrors a folder, made when missing. Returns its id. */
  async ensureFolderDataset(dataset: { folder: string; name: string }): Promise<string> {
    const meta = storableJson({ folder: dataset.folder });
    await this.#database.query(
      `insert into max_kb_dataset (id, user_id, name, "desc", meta) values ($1, $2, left($3, 150), left($4, 256), $5)
       on conflict do nothing`,
      [uuidv7(), LOCAL_USER_ID, storableText(dataset.name), storableText(dataset.folder), meta],
    );
    const [row] = await this.#database.query<{ id: string }>('select id from max_kb_dataset where meta @> $1::jsonb', [
      meta,
    ]);
    if (!row) throw new Error(`The dataset of ${dataset.folder} could not be created.`);
    return row.id;
  }

  /** The documents of a folder's dataset that came from files. */
  async listFolderDocuments(datasetId: string): Promise<StoredDocument[]> {
    return this.#database.query<StoredDocument>(
      `select id, meta ->> 'path' as path, (meta ->> 'size')::bigint as size, (meta ->> 'mtime_ms')::bigint as mtime_ms,
         meta ->> 'sha256' as sha256, (meta ->> 'index_version')::int as index_version
       from max_kb_document where dataset_id = $1 and meta ? 'path'`,
      [datasetId],
    );
  }

  /** A file was touched but holds what it held. */
  async updateDocumentSource(documentId: string, source: DocumentSource): Promise<void> {
    await this.#database.query(
      'update max_kb_document set meta = meta || $2::jsonb, update_time = clock_timestamp() where id = $1',
      [documentId, storableJson(source)],
    );
  }

  async insertDocument(document: NewDocument): Promise<string> {
    const id = uuidv7();
    await this.#database.query(
      `insert into max_kb_document (id, dataset_id, name, char_length, status, meta) values ($1, $2, left($3, 150), $4, 'nn2', $5)`,
      [id, document.datasetId, storableText(document.name), document.characters, storableJson(document.meta)],
    );
    return id;
  }

  /** Stores paragraphs in order and gives them back with their numbers. */
  async insertParagraphs(
    place: { datasetId: string; documentId: string },
    paragraphs: readonly PreparedParagraph[],
  ): Promise<StoredParagraph[]> {
    const stored: StoredParagraph[] = [];
    for (const batch of batches(paragraphs)) {
      const ids = batch.map(() => uuidv7());
      const rows = await this.#database.query<{ id: string; number: number }>(
        `insert into max_kb_paragraph (id, dataset_id, document_id, position, title, content, token_count, status)
         select u.id, $1, $2, $3 + u.place - 1, u.title, u.content, u.tokens, 'nn2'
         from unnest($4::uuid[], $5::text[], $6::text[], $7::int[]) with ordinality as u (id, title, content, tokens, place)
         returning id, number`,
        [
          place.datasetId,
          place.documentId,
          stored.length,
          ids,
          batch.map((paragraph) => paragraph.title),
          batch.map((paragraph) => paragraph.content),
          batch.map((paragraph) => paragraph.tokenCount),
        ],
      );
      const numbers = new Map(rows.map((row) => [row.id, row.number]));
      batch.forEach((paragraph, index) => {
        const id = ids[index] ?? '';
        stored.push({ ...paragraph, id, number: numbers.get(id) ?? 0 });
      });
    }
    return stored;
  }

  /** Holds others off this dataset until the surrounding transaction ends. */
  async lockDataset(datasetId: string): Promise<void> {
    await this.#database.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [datasetId]);
  }

  /** The document of a file, if there is one. */
  async deleteDocumentAt(datasetId: string, path: string): Promise<void> {
    await this.#database.query(
      `delete from max_kb_document where dataset_id = $1 and meta ->> 'path' = $2 and meta ? 'path'`,
      [datasetId, storableText(path)],
    );
  }

  /** Its paragraphs and their index go with it. */
  async deleteDocument(documentId: string): Promise<void> {
    await this.#database.query('delete from max_kb_document where id = $1', [documentId]);
  }
}

function* batches(paragraphs: readonly PreparedParagraph[]): Generator<PreparedParagraph[]> {
  let batch: PreparedParagraph[] = [];
  let characters = 0;
  for (const paragraph of paragraphs) {
    const length = paragraph.title.length + paragraph.content.length;
    if (batch.length > 0 && characters + length > MAX_BATCH_CHARACTERS) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(paragraph);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}
