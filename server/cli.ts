#!/usr/bin/env node
import { commands, usage } from './cli/commands.ts';
import { explain } from './cli/explain.ts';
import { UsageError } from './cli/usage-error.ts';

/** Exit codes: 0 done, 2 bad usage, 1 failed. */
async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(`${usage}\n`);
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) {
    process.stderr.write(`knowhy: there is no command ${JSON.stringify(name)}.\n\n${usage}\n`);
    return 2;
  }
  const command = await load();
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(`${command.help}\n`);
    return 0;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    process.stderr.write(`knowhy ${name}: ${explain(error)}\n`);
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write(`See: npm run -s knowhy -- ${name} --help\n`);
    return 2;
  }
}

// A reader like `head` that goes away ends the output, not the program with a trace.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await main(process.argv.slice(2));
