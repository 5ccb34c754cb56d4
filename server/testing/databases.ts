import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, inject } from 'vitest';
import type { Database, DatabaseEngine } from '../database/database.ts';
import { openDatabase } from '../database/open-database.ts';
import { administer, withDatabase } from './administer.ts';

/** Opens a fresh, migrated database; it is closed and removed after the suite. */
export type OpenTestDatabase = () => Promise<Database>;

let databaseNumber = 0;

/** Runs a suite on PGlite and on PostgreSQL; where there is no PostgreSQL that half is skipped by name. */
export function describeOnDatabases(
  name: string,
  suite: (open: OpenTestDatabase, engine: DatabaseEngine) => void,
): void {
  describe(`${name} on pglite`, () => suite(opener(openPGliteCopy), 'pglite'));
  describe.skipIf(inject('postgres') === null)(`${name} on postgresql`, () =>
    suite(opener(openPostgresClone), 'postgresql'),
  );
}

/** For suites that no database can make a difference to, such as those in a browser. */
export function describeOnPGlite(name: string, suite: (open: OpenTestDatabase) => void): void {
  describe(name, () => suite(opener(openPGliteCopy)));
}

interface Opened {
  database: Database;
  remove: () => Promise<void>;
}

function opener(create: () => Promise<Opened>): OpenTestDatabase {
  const opened: Opened[] = [];
  afterAll(async () => {
    for (const { database, remove } of opened) {
      await database.close();
      await remove();
    }
  });
  return async () => {
    const created = await create();
    opened.push(created);
    return created.database;
  };
}

async function openPGliteCopy(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'knowhy-test-'));
  await cp(inject('pgliteTemplate'), folder, { recursive: true });
  return {
    database: await openDatabase({ dataDir: folder }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openPostgresClone(): Promise<Opened> {
  const { url, template } = inject('postgres') ?? { url: '', template: '' };
  databaseNumber += 1;
  const name = `knowhy_test_${process.pid}_${Date.now()}_${databaseNumber}`;
  await administer(url, `create database ${name} template ${template}`);
  return {
    database: await openDatabase({ url: withDatabase(url, name) }),
    remove: () => administer(url, `drop database if exists ${name} with (force)`),
  };
}
