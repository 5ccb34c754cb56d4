import { randomBytes } from 'node:crypto';
import { acceptSandbox } from '../functions/sandbox/acceptance.ts';
import { createPythonSandbox } from '../functions/sandbox/create-python-sandbox.ts';
import type { Command } from './commands.ts';
import { explain } from './explain.ts';
import { commandLog, loadSettings, readArguments } from './load.ts';
import { printable } from './printable.ts';

const help = `Usage: npm run -s knowhy -- test-sandbox
       scripts/test-python-sandbox.sh, .\\scripts\\Test-PythonSandbox.ps1 -Distribution NAME

Runs functions through the sandbox of the settings (kb.python.*) and checks what they can do.
Exit code: 0 every check passed, 1 one did not.`;

/** `knowhy test-sandbox`. Returns 1 where a check fails or nothing can run. */
export const testSandboxCommand: Command = { help, run };

async function run(args: string[]): Promise<number> {
  readArguments({ args, options: {} });
  const config = loadSettings().python;
  const secret = randomBytes(16).toString('hex');
  // Set for as long as this process lives: the engine's CLI is started with an environment that must not hold it.
  process.env['KB_SANDBOX_TEST_SECRET'] = secret;
  const sandbox = createPythonSandbox({ ...config, prewarm: 0 }, { log: commandLog('silent') });
  const say = (mark: string, text: string) => process.stdout.write(printable(`${mark}  ${text}\n`));
  try {
    const state = await sandbox.describe();
    if (state.kind === 'unavailable') {
      say('FAIL', state.message);
      return 1;
    }
    say(
      'ok  ',
      `${state.engine} ${state.engineVersion}, ${state.image}, Python ${state.pythonVersion}: walls and limits read back`,
    );
    for (const note of state.notes) say('note', note);
    const failed = await acceptSandbox(sandbox, {
      secret,
      hasNetwork: config.network !== 'none',
      signal: new AbortController().signal,
      onChecked: ({ name, isFine, found }) => say(isFine ? 'ok  ' : 'FAIL', isFine ? name : `${name}: ${found}`),
    });
    return failed === 0 ? 0 : 1;
  } catch (error) {
    say('FAIL', explain(error));
    return 1;
  } finally {
    await sandbox.close();
  }
}
