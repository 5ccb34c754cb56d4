import { beforeAll, expect, it } from 'vitest';
import { describeOnDatabases } from '../testing/databases.ts';
import type { Database } from './database.ts';
import { DatabaseLostError } from './database-lost-error.ts';
import { migrate } from './migrate.ts';

describeOnDatabases('database', (open, engine) => {
  // The embedded database has no connection that somebody could cut.
  const itOnPostgres = engine === 'postgresql' ? it : () => {};
  let database: Database;

  beforeAll(async () => {
    database = await open();
    await database.query('create table note (id int primary key, text text)');
  });

  it('R112 applies nothing when every script was applied before', async () => {
    const applied = await migrate(database);

    expect(applied).toEqual([]);
  });

  it('rolls a transaction back when its work fails', async () => {
    const failing = database.transaction(async () => {
      await database.query('insert into note values (1, $1)', ['lost']);
      throw new Error('no');
    });

    await expect(failing).rejects.toThrow('no');
    expect(await database.query('select * from note where id = 1')).toEqual([]);
  });

  it('keeps statements of others out of an open transaction', async () => {
    let outside: Promise<unknown> = Promise.resolve();
    let tell = () => {};
    const isOpen = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const others = isOpen.then(() => {
      outside = database.query(
        'insert into note values (3, $1) returning (select count(*) from note where id = 2) as seen',
        ['outside'],
      );
    });

    const inside = database.transaction(async () => {
      await database.query('insert into note values (2, $1)', ['inside']);
      tell();
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error('no');
    });

    await expect(inside).rejects.toThrow('no');
    await others;
    expect(await outside).toEqual([{ seen: 0 }]);
    expect(await database.query('select id from note where id in (2, 3)')).toEqual([{ id: 3 }]);
  });

  itOnPostgres('fails the transaction whose connection is cut, and goes on', async () => {
    const cut = database.transaction(async () => {
      await database.query('select pg_terminate_backend(pg_backend_pid())');
    });

    await expect(cut).rejects.toThrow(DatabaseLostError);
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('tells a statement that is refused from a database that is lost', async () => {
    const refused = await database.query('select nothing').catch((error: unknown) => error);

    expect(refused).not.toBeInstanceOf(DatabaseLostError);
    expect(refused).toMatchObject({ code: '42703' });
  });

  it('stays usable after a statement that failed', async () => {
    for (const bad of ['select bogus from', 'select 1 from nowhere']) {
      await expect(database.query(bad)).rejects.toThrow();
      await expect(database.query(`${bad} where id = $1`, [1])).rejects.toThrow();

      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
    }
  });

  it('gives counts as numbers', async () => {
    const rows = await database.query('select count(*) as n, 1.5::numeric as half, 9007199254740991::bigint as big');

    expect(rows).toEqual([{ n: 1, half: 1.5, big: 9007199254740991 }]);
  });

  it('refuses a statement sent after its transaction ended', async () => {
    let late: Promise<unknown> = Promise.resolve();
    await database.transaction(async () => {
      late = new Promise((resolve) => setTimeout(resolve, 20)).then(() => database.query('select 1'));
    });

    await expect(late).rejects.toThrow('after its transaction');
  });

  it('has pgvector', async () => {
    const rows = await database.query(`select '[1,0]'::vector <=> '[0,1]'::vector as distance`);

    expect(rows).toEqual([{ distance: 1 }]);
  });
});
