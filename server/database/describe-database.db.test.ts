import { expect, it } from 'vitest';
import { describeOnDatabases } from '../testing/databases.ts';
import { describeDatabase } from './describe-database.ts';

describeOnDatabases('describeDatabase', (open) => {
  it('reads the versions of the server and of pgvector, or that there is none', async () => {
    const database = await open();
    const { serverVersion, vectorVersion } = await describeDatabase(database);

    await database.query('drop extension vector cascade');
    const without = await describeDatabase(database);

    expect(serverVersion).toMatch(/^\d+\.\d+/);
    expect(vectorVersion).toMatch(/^\d+\.\d+\.\d+$/);
    expect(without).toEqual({ serverVersion, vectorVersion: null });
  });
});
