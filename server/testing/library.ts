import { v7 as uuidv7 } from 'uuid';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import type { Database } from '../database/database.ts';
import { indexParagraphs } from '../knowledge/indexing/index-paragraphs.ts';
import { KnowledgeStore, type StoredParagraph } from '../knowledge/knowledge-store.ts';

/** A document as a test writes it: each paragraph is a title and a content. */
export interface LibraryDocument {
  name: string;
  paragraphs: readonly (readonly [title: string, content: string])[];
}

/** A stored and indexed document. */
export interface ShelvedDocument {
  datasetId: string;
  documentId: string;
  documentName: string;
  paragraphs: StoredParagraph[];
}

/** Makes an empty dataset. Returns its id. */
export async function addDataset(database: Database, name = 'library'): Promise<string> {
  const id = uuidv7();
  await database.query('insert into max_kb_dataset (id, user_id, name) values ($1, $2, $3)', [id, LOCAL_USER_ID, name]);
  return id;
}

/** Stores a document and indexes it for keywords, as indexing a file does. */
export async function addDocument(
  database: Database,
  datasetId: string,
  { name, paragraphs }: LibraryDocument,
): Promise<ShelvedDocument> {
  const store = new KnowledgeStore(database);
  const meta = { path: uuidv7(), size: 0, mtime_ms: 0, sha256: '', index_version: 0 };
  return database.transaction(async () => {
    const documentId = await store.insertDocument({ datasetId, name, characters: 0, meta });
    const prepared = paragraphs.map(([title, content]) => ({ title, content, tokenCount: 1 }));
    const stored = await store.insertParagraphs({ datasetId, documentId }, prepared);
    await indexParagraphs(database, { datasetId, documentId, documentName: name }, stored);
    return { datasetId, documentId, documentName: name, paragraphs: stored };
  });
}
