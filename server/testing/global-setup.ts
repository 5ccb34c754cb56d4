import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open-database.ts';
import { administer, withDatabase } from './administer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    pgliteTemplate: string;
    /** Null where no PostgreSQL was given. */
    postgres: { url: string; template: string } | null;
  }
}

/** Migrates one template of each engine, once; a test file copies it (seconds less than creating it anew). */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'knowhy-template-'));
  await migrateOnce({ dataDir: join(folder, 'pglite') });
  project.provide('pgliteTemplate', join(folder, 'pglite'));

  const url = process.env['KNOWHY_TEST_DATABASE_URL'];
  const template = `knowhy_template_${process.pid}`;
  if (url) {
    await administer(url, `create database ${template}`);
    await migrateOnce({ url: withDatabase(url, template) });
  }
  project.provide('postgres', url ? { url, template } : null);

  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (url) await administer(url, `drop database if exists ${template} with (force)`);
  };
}

async function migrateOnce(location: { dataDir: string } | { url: string }): Promise<void> {
  const database = await openDatabase(location);
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
