export interface Command {
  help: string;
  /** Returns the exit code. */
  run(args: string[]): Promise<number>;
}

/** What `knowhy` can do, by name. Loaded when used: a mistyped option need not wait for a database driver. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  ask: async () => (await import('./ask.ts')).askCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  'test-sandbox': async () => (await import('./test-sandbox.ts')).testSandboxCommand,
};

export const usage = `Know, and know why: answers from your own documents, with their sources.

Usage: npm run -s knowhy -- COMMAND [OPTIONS]

  serve         run the server (also: npm start)
  ask           ask a question on the command line
  migrate       bring the database up to date
  doctor        say what works here and what does not
  test-sandbox  check what Python functions can do here

Each command explains itself with --help. Settings: my.txt in this folder, or the environment; see README.md.`;
