import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../observability/package-root.ts';
import type { Database } from './database.ts';

/** Any number, the same in every instance: the key under which starters queue up. */
const MIGRATION_LOCK = 5_466_991;

interface Migration {
  name: string;
  sql: string;
  sha256: string;
}

/** A script was edited after it had been applied, or failed. */
export class MigrationError extends Error {
  readonly code = 'migration_failed';
  readonly script: string;

  constructor(script: string, message: string, options?: ErrorOptions) {
    super(`${script}: ${message}`, options);
    this.name = 'MigrationError';
    this.script = script;
  }
}

/**
 * Applies the numbered scripts that this database has not seen, in order, each in a transaction of its own,
 * and stops at the first that fails. Two starters at once queue up. Returns the names applied, maybe none.
 * Throws MigrationError.
 */
export async function migrate(database: Database, folder = join(packageRoot(), 'scripts')): Promise<string[]> {
  const migrations = await readMigrations(folder);
  if (await isUpToDate(database, migrations)) return [];
  await createMigrationTable(database);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await apply(database, migration)) applied.push(migration.name);
  }
  return applied;
}

/** One look before any lock: at nearly every start there is nothing to do, and it takes half a second to find out. */
async function isUpToDate(database: Database, migrations: readonly Migration[]): Promise<boolean> {
  const [found] = await database.query<{ exists: boolean }>(
    `select to_regclass('max_kb_schema_migration') is not null as exists`,
  );
  if (!found?.exists) return false;
  const rows = await database.query<{ name: string; sha256: string }>(
    'select name, sha256 from max_kb_schema_migration',
  );
  const known = new Map(rows.map((row) => [row.name, row.sha256]));
  return migrations.every(({ name, sha256 }) => known.get(name) === sha256);
}

/** Behind the lock: of two that create a table `if not exists` at the same time, one fails. */
async function createMigrationTable(database: Database): Promise<void> {
  await database.transaction(async () => {
    await takeLock(database);
    await database.query(`create table if not exists max_kb_schema_migration (
      name text primary key, sha256 text not null, apply_time timestamptz not null default clock_timestamp())`);
  });
}

/** Waits for other starters; the lock ends with the transaction. */
async function takeLock(database: Database): Promise<void> {
  await database.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{3}-.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function apply(database: Database, migration: Migration): Promise<boolean> {
  return database.transaction(async () => {
    await takeLock(database);
    const [known] = await database.query<{ sha256: string }>(
      'select sha256 from max_kb_schema_migration where name = $1',
      [migration.name],
    );
    if (known?.sha256 === migration.sha256) return false;
    if (known) {
      throw new MigrationError(migration.name, 'it was edited after it had been applied; add a new script instead');
    }
    try {
      await database.query(migration.sql);
    } catch (error) {
      throw new MigrationError(migration.name, error instanceof Error ? error.message : String(error), {
        cause: error,
      });
    }
    await database.query('insert into max_kb_schema_migration (name, sha256) values ($1, $2)', [
      migration.name,
      migration.sha256,
    ]);
    return true;
  });
}
