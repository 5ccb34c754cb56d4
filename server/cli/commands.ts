import { ask, askHelp } from './ask.ts';
import { doctor, doctorHelp } from './doctor.ts';
import { migrateCommand, migrateHelp } from './migrate.ts';
import { serve, serveHelp } from './serve.ts';

export interface Command {
  help: string;
  /** Returns the exit code. */
  run(args: string[]): Promise<number>;
}

/** What `knowhy` can do, by name. */
export const commands: Readonly<Record<string, Command>> = {
  serve: { help: serveHelp, run: serve },
  ask: { help: askHelp, run: ask },
  migrate: { help: migrateHelp, run: migrateCommand },
  doctor: { help: doctorHelp, run: doctor },
};

export const usage = `Know, and know why: answers from your own documents, with their sources.

Usage: npm run -s knowhy -- COMMAND [OPTIONS]

  serve     run the server (also: npm start)
  ask       ask a question on the command line
  migrate   bring the database up to date
  doctor    say what works here and what does not

Each command explains itself with --help. Settings: my.txt in this folder, or the environment; see README.md.`;
