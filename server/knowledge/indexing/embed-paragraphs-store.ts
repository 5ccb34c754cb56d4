import type { Database } from '../../database/database.ts';

/** A paragraph that has no vectors of a model yet. */
export interface UnembeddedParagraph {
  id: string;
  datasetId: string;
  documentId: string;
  title: string;
  content: string;
}

/** The oldest paragraphs without vectors of this model and length, `skip` left out, at most `limit`. */
export async function listUnembedded(
  database: Database,
  wanted: { model: string; dimensions: number },
  { skip, limit }: { skip: readonly string[]; limit: number },
): Promise<UnembeddedParagraph[]> {
  return database.query<UnembeddedParagraph>(
    `select p.id, p.dataset_id as "datasetId", p.document_id as "documentId", p.title, p.content from max_kb_paragraph p
     where not (p.id = any($3::uuid[]))
       and not exists (select from max_kb_embedding e where e.paragraph_id = p.id and e.model = $1 and e.dimensions = $2)
     order by p.number limit $4`,
    [wanted.model, wanted.dimensions, skip, limit],
  );
}
