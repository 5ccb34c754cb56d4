import type { Database } from './database.ts';

/** `vectorVersion`: null where pgvector is not installed in this database. */
export interface DatabaseDescription {
  serverVersion: string;
  vectorVersion: string | null;
}

/** Reads which PostgreSQL and which pgvector this is. */
export async function describeDatabase(database: Database): Promise<DatabaseDescription> {
  const [row] = await database.query<DatabaseDescription>(
    `select current_setting('server_version') as "serverVersion",
            (select extversion from pg_extension where extname = 'vector') as "vectorVersion"`,
  );
  if (!row) throw new Error('The database did not say which version it is.');
  return row;
}
