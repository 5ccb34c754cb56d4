import { openSandbox, pythonRun } from './python-sandbox.ts';

/* A server that lifecycle.sandbox.test.ts kills: two containers that wait, one that runs. Says when they do. */
const sandbox = openSandbox({ prewarm: 2 });
await sandbox.describe();
void sandbox.run(pythonRun('import time\ndef f(): time.sleep(50)', { timeoutMs: 60_000 }));
for (;;) {
  const state = await sandbox.describe();
  if (state.kind === 'ready' && state.idle === 2 && state.running === 1) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
process.stdout.write('holding\n');
