import { beforeAll, expect, it } from 'vitest';
import { describeOnDatabases } from '../testing/databases.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';

describeOnDatabases('database', (open) => {
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
    const order: string[] = [];
    const inside = database.transaction(async () => {
      await database.query('insert into note values (2, $1)', ['inside']);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await database.query('delete from note where id = 2');
      order.push('transaction');
    });
    const outside = database.query('select * from note where id = 2').then((rows) => {
      order.push('outside');
      return rows;
    });

    await inside;

    expect(await outside).toEqual([]);
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
