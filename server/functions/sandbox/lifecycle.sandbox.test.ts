import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  containersOf,
  describeWithEngine,
  docker,
  openSandbox,
  processesWith,
  pythonConfig,
  pythonRun,
  until,
  untilNothingIsLeft,
} from '../../testing/python-sandbox.ts';
import type { PythonSandbox } from '../python-sandbox.ts';
import { createOwner, orphans } from './container-owner.ts';
import { OWNER_LABEL } from './run-arguments.ts';

const RETURN =
  'import os\ndef f():\n    used = os.path.exists("/tmp/used")\n    open("/tmp/used", "w").close()\n    return used';

async function isIdle(sandbox: PythonSandbox, idle: number): Promise<boolean> {
  const state = await sandbox.describe();
  return state.kind === 'ready' && state.idle === idle && state.running === 0;
}

async function isRunning(sandbox: PythonSandbox): Promise<boolean> {
  const state = await sandbox.describe();
  return state.kind === 'ready' && state.running === 1;
}

async function startHolder(): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '..', '..', 'testing', 'hold-containers.ts');
  const holder = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return holder;
}

const temporaryFiles = () => readdirSync(tmpdir()).filter((name) => /knowhy-py|sandbox/.test(name));

describeWithEngine('the life of containers', () => {
  it('R88 R90 uses each container once, replaces it, and leaves none', async () => {
    const before = temporaryFiles();
    const sandbox = openSandbox({ prewarm: 2 });
    sandbox.start();
    await until(() => isIdle(sandbox, 2));
    const ahead = await containersOf(process.pid);

    const outcomes = [];
    for (let count = 0; count < 4; count += 1) outcomes.push(await sandbox.run(pythonRun(RETURN)));
    await until(() => isIdle(sandbox, 2));
    const later = await containersOf(process.pid);
    await sandbox.close();

    expect(outcomes).toEqual(Array(4).fill(expect.objectContaining({ kind: 'value', value: false })));
    expect([ahead.length, later.length]).toEqual([2, 2]);
    expect(later.filter((name) => ahead.includes(name))).toEqual([]);
    expect(await containersOf(process.pid)).toEqual([]);
    expect(temporaryFiles()).toEqual(before);
    await expect(sandbox.run(pythonRun(RETURN))).rejects.toMatchObject({ code: 'sandbox_closed' });
  });

  it('R99 is busy when too many runs wait, and cancels those that run when it closes', async () => {
    const sandbox = openSandbox({ concurrency: 1 });
    const sleep = () =>
      sandbox.run(pythonRun('import time\ndef f(): time.sleep(50)', { timeoutMs: 60_000, caller: 'a' }));
    const runs = Array.from({ length: 6 }, sleep);

    await expect(Promise.race(runs)).rejects.toMatchObject({ code: 'sandbox_busy' });
    const ends = Promise.allSettled(runs);
    await sandbox.close();

    const kinds = (await ends).map((end) => (end.status === 'fulfilled' ? end.value.kind : end.reason.code));
    expect(kinds.sort()).toEqual([...Array(5).fill('cancelled'), 'sandbox_busy']);
    expect(await containersOf(process.pid)).toEqual([]);
  });

  it('R90 leaves no container after a kill -9 of the server', async () => {
    const before = temporaryFiles();
    const holder = await startHolder();
    const pid = holder.pid ?? 0;
    const names = await containersOf(pid);

    holder.kill('SIGKILL');
    await once(holder, 'exit');

    expect(names).toHaveLength(3);
    await until(async () => (await containersOf(pid)).length === 0);
    await until(async () => names.every((name) => processesWith(name).length === 0));
    await untilNothingIsLeft();
    expect(temporaryFiles()).toEqual(before);
  });

  it('R90 leaves no container after a kill -9 of the Docker client, and says that the engine broke off', async () => {
    const sandbox = openSandbox({ prewarm: 1 });
    await until(() => isIdle(sandbox, 1));
    const [name = 'none'] = await containersOf(process.pid);
    const run = sandbox.run(pythonRun('import time\ndef f(): time.sleep(50)', { timeoutMs: 60_000 }));

    for (const pid of processesWith(name).filter((one) => one !== process.pid)) process.kill(pid, 'SIGKILL');

    await expect(run).rejects.toMatchObject({ name: 'SandboxError', code: 'sandbox_failed', retryable: true });
    await until(async () => !(await containersOf(process.pid)).includes(name));
    expect(await sandbox.run(pythonRun('def f(): return 1'))).toMatchObject({ kind: 'value', value: 1 });
    await sandbox.close();
    await untilNothingIsLeft();
  });

  it('R99 loses no place to an engine that breaks off while runs wait', async () => {
    const sandbox = openSandbox({ concurrency: 1, prewarm: 0 });
    const sleeping = sandbox.run(pythonRun('import time\ndef f(): time.sleep(50)', { timeoutMs: 60_000 }));
    await until(async () => (await containersOf(process.pid)).length === 1 && (await isRunning(sandbox)));
    const waiting = Promise.allSettled([1, 2].map((value) => sandbox.run(pythonRun(`def f(): return ${value}`))));
    const [name = 'none'] = await containersOf(process.pid);

    for (const pid of processesWith(name).filter((one) => one !== process.pid)) process.kill(pid, 'SIGKILL');

    await expect(sleeping).rejects.toMatchObject({ name: 'SandboxError' });
    expect(await waiting).toMatchObject([{ value: { value: 1 } }, { value: { value: 2 } }]);
    expect(await sandbox.run(pythonRun('def f(): return 3'))).toMatchObject({ value: 3 });
    await sandbox.close();
  });

  it('removes what a killed server left, and nothing of a living one', async () => {
    const { image } = pythonConfig();
    const create = (owner: string) =>
      docker(
        'create',
        '--network',
        'none',
        '--label',
        `${OWNER_LABEL}=${owner}`,
        image,
        '/usr/bin/python3',
        '-c',
        'pass',
      );
    const space = createOwner().split('.')[0];
    const dead = await create(`${space}.${2 ** 22 + 1}.1.aa`);
    const living = await create(createOwner());
    const elsewhere = await create('0000000000000000.1.1.aa');

    const sandbox = openSandbox();
    await sandbox.describe();
    await sandbox.close();

    const left = await docker('ps', '-aq', '--no-trunc', '--filter', `label=${OWNER_LABEL}`);
    await docker('rm', '-f', living, elsewhere);
    expect(left.split('\n')).toEqual(expect.arrayContaining([living, elsewhere]));
    expect(left).not.toContain(dead);
  });

  it('takes containers of any owner for left behind once they are older than any may be', () => {
    const minutes = (count: number) => ({ id: String(count), owner: 'elsewhere.1.1.aa', ageMs: count * 60_000 });

    expect(orphans([minutes(5), minutes(59), minutes(61)])).toEqual(['61']);
  });
});
