import { holdDataFolder } from '../data-folder.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open-database.ts';
import { databaseLocation } from '../main.ts';
import type { Command } from './commands.ts';
import { loadSettings, readArguments } from './load.ts';

const help = `Usage: npm run -s knowhy -- migrate

Applies the numbered scripts in scripts/ that the database has not seen. Safe to repeat: data stays, and it
stops at the first script that fails. The server does the same at every start.`;

/** `knowhy migrate`. Throws what opening or migrating throws. */
export const migrateCommand: Command = { help, run };

async function run(args: string[]): Promise<number> {
  readArguments({ args, options: {} });
  const config = loadSettings();
  const onLost = (error: Error) => {
    throw error;
  };
  const folder = config.databaseUrl === null ? await holdDataFolder(config.dataDir, onLost) : null;
  try {
    const database = await openDatabase(databaseLocation(config));
    try {
      const applied = await migrate(database);
      const lines = applied.length === 0 ? ['Nothing to do: every script was applied before.'] : applied;
      process.stdout.write(`${lines.join('\n')}\n`);
      return 0;
    } finally {
      await database.close();
    }
  } finally {
    await folder?.release();
  }
}
