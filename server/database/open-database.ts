import type { Database } from './database.ts';
import { type OpenPGliteOptions, openPGlite } from './open-pglite.ts';
import { PostgresDatabase } from './postgres-database.ts';

/** `url`: a PostgreSQL with pgvector. `dataDir`: the folder of the embedded database, created when missing. */
export type DatabaseLocation = { url: string } | { dataDir: string };

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens the embedded database or connects to PostgreSQL. The caller holds the data folder's lock: two
 * processes on one PGlite folder lose rows silently (measured, PGlite 0.5.14, 2026-12-01).
 * Throws when the folder cannot be opened or the server does not answer within 10 s. `onLost` is for the embedded
 * database, which never comes back; a lost server is asked again at the next statement.
 */
export async function openDatabase(location: DatabaseLocation, options: OpenPGliteOptions = {}): Promise<Database> {
  if ('dataDir' in location) return openPGlite(location.dataDir, options);
  const database = new PostgresDatabase('postgresql', {
    connectionString: location.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'knowhy',
  });
  try {
    await database.query('select 1');
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
