import type { Database } from '../../database/database.ts';

/** A paragraph with the names around it, as a hit shows it. */
export interface ParagraphRow {
  paragraphId: string;
  documentId: string;
  datasetId: string;
  documentName: string;
  datasetName: string;
  title: string;
  content: string;
  tokenCount: number;
  position: number;
  isActive: boolean;
}

/** Reads paragraphs by id, in no order; what was deleted or made inactive meanwhile is missing. */
export async function readParagraphs(database: Database, ids: readonly string[]): Promise<Map<string, ParagraphRow>> {
  const rows = await database.query<ParagraphRow>(
    `select p.id as "paragraphId", p.document_id as "documentId", p.dataset_id as "datasetId", d.name as "documentName",
       s.name as "datasetName", p.title, p.content, p.token_count as "tokenCount", p.position, p.is_active as "isActive"
     from max_kb_paragraph p join max_kb_document d on d.id = p.document_id join max_kb_dataset s on s.id = p.dataset_id
     where p.id = any($1::uuid[]) and p.is_active and d.is_active`,
    [ids],
  );
  return new Map(rows.map((row) => [row.paragraphId, row]));
}
