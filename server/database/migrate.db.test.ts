import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnDatabases } from '../testing/databases.ts';
import type { Database } from './database.ts';
import { MigrationError, migrate } from './migrate.ts';

const STARTERS = 8;

describeOnDatabases('migrate', (open) => {
  let database: Database;
  let folder: string;

  beforeAll(async () => {
    database = await open();
  });
  beforeEach(async () => {
    await database.query('drop table if exists max_kb_schema_migration, first, second, third');
    folder = await mkdtemp(join(tmpdir(), 'knowhy-test-'));
    await script('001-first.sql', 'create table first (id int)');
    await script('002-second.sql', 'create table second (id int)');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const script = (name: string, sql: string) => writeFile(join(folder, name), sql);

  it('lets several start at once on an empty database', async () => {
    const connected = Array.from({ length: STARTERS }, () => database.query('select pg_sleep(0.1)'));
    await Promise.all(connected);

    const applied = await Promise.all(Array.from({ length: STARTERS }, () => migrate(database, folder)));

    expect(applied.flat().sort()).toEqual(['001-first.sql', '002-second.sql']);
  });

  it('R112 applies only what is new', async () => {
    await migrate(database, folder);
    await script('003-third.sql', 'create table third (id int)');

    expect(await migrate(database, folder)).toEqual(['003-third.sql']);
  });

  it('refuses a script that was edited after it had been applied', async () => {
    await migrate(database, folder);
    await script('001-first.sql', 'create table first (id bigint)');

    const again = migrate(database, folder);

    await expect(again).rejects.toThrow(MigrationError);
    await expect(again).rejects.toMatchObject({ script: '001-first.sql', code: 'migration_failed' });
  });

  it('takes a script with other line ends for the same', async () => {
    await script('001-first.sql', 'create table first (\nid int)');
    await migrate(database, folder);
    await script('001-first.sql', 'create table first (\r\nid int)');

    expect(await migrate(database, folder)).toEqual([]);
  });

  it('R112 stops at the first script that fails and keeps what went before', async () => {
    await script('002-second.sql', 'create table second (id int); insert into nowhere values (1)');
    await script('003-third.sql', 'create table third (id int)');

    const failing = migrate(database, folder);

    await expect(failing).rejects.toMatchObject({ name: 'MigrationError', script: '002-second.sql' });
    const [tables] = await database.query(
      `select to_regclass('first') is not null as first, to_regclass('second') is not null as second,
         to_regclass('third') is not null as third`,
    );
    expect(tables).toEqual({ first: true, second: false, third: false });
    expect(await database.query('select name from max_kb_schema_migration')).toEqual([{ name: '001-first.sql' }]);
  });

  it('R112 goes on where it stopped once the script is mended', async () => {
    await script('002-second.sql', 'create table second (id nothing)');
    await expect(migrate(database, folder)).rejects.toThrow(MigrationError);
    await script('002-second.sql', 'create table second (id int)');

    expect(await migrate(database, folder)).toEqual(['002-second.sql']);
  });
});
