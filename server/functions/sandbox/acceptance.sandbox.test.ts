import { afterAll, expect, it } from 'vitest';
import { describeWithEngine, openSandbox } from '../../testing/python-sandbox.ts';
import type { PythonSandbox } from '../python-sandbox.ts';
import { acceptSandbox, type CheckedRun } from './acceptance.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());

async function accept(subject: PythonSandbox): Promise<{ failed: number; runs: CheckedRun[] }> {
  const runs: CheckedRun[] = [];
  const failed = await acceptSandbox(subject, {
    secret: 'sk-secret',
    hasNetwork: false,
    signal: new AbortController().signal,
    onChecked: (run) => runs.push(run),
  });
  return { failed, runs };
}

describeWithEngine('the checks of the test script', () => {
  it('R107 pass in the real sandbox', async () => {
    const { failed, runs } = await accept(sandbox);

    expect(runs.filter((run) => !run.isFine)).toEqual([]);
    expect([failed, runs.length]).toEqual([0, 8]);
  });

  it('R107 fail, each one, in a sandbox that holds nothing', async () => {
    const output = { stdout: '', stderr: '', outputTruncated: false, durationMs: 1 };
    const open: PythonSandbox = { ...sandbox, run: async () => ({ kind: 'value', value: 'allowed', ...output }) };

    const { failed, runs } = await accept(open);

    expect(failed).toBe(8);
    expect(runs.every((run) => run.found.includes('allowed'))).toBe(true);
  });
});
