import type { Database } from '../../database/database.ts';

/** A paragraph that has no vectors of a model yet. */
export interface UnembeddedParagraph {
  id: string;
  datasetId: string;
  documentId: string;
  title: string;
  content: string;
}

/** The oldest paragraphs without vectors of this model, at most `limit`. */
export async function listUnembedded(database: Database, model: string, limit: number): Promise<UnembeddedParagraph[]> {
  return database.query<UnembeddedParagraph>(
    `select p.id, p.dataset_id as "datasetId", p.document_id as "documentId", p.title, p.content from max_kb_paragraph p
     where not exists (select from max_kb_embedding e where e.paragraph_id = p.id and e.model = $1)
     order by p.number limit $2`,
    [model, limit],
  );
}

/** How many paragraphs have no vectors of this model. */
export async function countUnembedded(database: Database, model: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `select count(*) as n from max_kb_paragraph p
     where not exists (select from max_kb_embedding e where e.paragraph_id = p.id and e.model = $1)`,
    [model],
  );
  return row?.n ?? 0;
}
