import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSettings, readArguments } from '../server/cli/load.ts';
import type { PythonConfig } from '../server/config.ts';
import type { PythonSandbox, RunOutcome } from '../server/functions/python-sandbox.ts';
import { createPythonSandbox } from '../server/functions/sandbox/create-python-sandbox.ts';
import { type EngineCommand, engineCommand } from '../server/functions/sandbox/engine-command.ts';
import { createLog } from '../server/observability/log.ts';
import { type Bench, type BenchResult, BenchUsageError, type Figure, percentile, progress } from './bench.ts';
import { idleMemory } from './sandbox-memory.ts';

const help = `Usage: npm run -s bench -- sandbox [--pairs N] [--jobs N]

What a Python function costs, beside a plain docker run of the same image on the same engine (kb.python.*, DOCKER_HOST).
Each pair measures both, in turns of who goes first, and waits until every container is gone.

  --pairs N   pairs of a run without a pool and a docker run, and as many runs from the pool (20)
  --jobs N    runs of the sustained measurement (20)

With --check: a run without a pool takes at most 1.15 times docker run, one from the pool at most a fortieth.`;

/** `bench -- sandbox`. */
export const sandboxBench: Bench = { help, run };

/** Nothing but the way there and back: what the function does is the author's. */
const FUNCTION = 'def f(a):\n    return {"value": a}';
const POOL_SIZE = 2;
/** A container that waits has nothing left to start. */
const SETTLE_MS = 200;

async function run(args: string[]): Promise<BenchResult> {
  const { values } = readArguments({
    args,
    options: { pairs: { type: 'string', default: '20' }, jobs: { type: 'string', default: '20' } },
  });
  const [pairs, jobs] = [wholeNumber('--pairs', values.pairs), wholeNumber('--jobs', values.jobs)];
  const config = loadSettings().python;
  const sustained = await measureSustained(config, jobs);
  return report({ ...(await measureRounds(config, pairs)), sustained, pairs });
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new BenchUsageError(`${name} needs a whole number from 1.`);
  return Number(text);
}

/** Opens a sandbox that passed its self-test; it is closed whatever happens. */
async function withSandbox<T>(
  config: PythonConfig,
  changes: Partial<PythonConfig>,
  work: (sandbox: PythonSandbox, engine: string) => Promise<T>,
): Promise<T> {
  const sandbox = createPythonSandbox({ ...config, ...changes }, { log: createLog('silent') });
  try {
    const state = await sandbox.describe();
    if (state.kind === 'unavailable') throw new Error(state.message);
    return await work(sandbox, `${state.engine} ${state.engineVersion}, ${state.image}, Python ${state.pythonVersion}`);
  } finally {
    await sandbox.close();
  }
}

/** Each round measures all three, so that whatever else the machine does falls on all of them. */
function measureRounds(config: PythonConfig, rounds: number) {
  const command = engineCommand(config, process.env);
  return withSandbox(config, { prewarm: 0 }, (cold, engine) =>
    withSandbox(config, { prewarm: POOL_SIZE }, async (pooled) => {
      const times = { colds: [] as number[], plains: [] as number[], warms: [] as number[] };
      const measureCold = async () => {
        times.colds.push(await timed(() => runFunction(cold)));
        await untilQuiet(cold, 0);
      };
      const measurePlain = async () => void times.plains.push(await timed(() => dockerRun(command, config.image)));
      const measurePooled = async () => {
        await untilQuiet(pooled, POOL_SIZE);
        await sleep(SETTLE_MS);
        times.warms.push(await timed(() => runFunction(pooled)));
        await untilQuiet(pooled, POOL_SIZE);
      };
      await untilQuiet(pooled, POOL_SIZE);
      const memory = await idleMemory(command);
      for (let round = 0; round < rounds; round += 1) {
        progress(`pair ${round + 1} of ${rounds} …`);
        const both = round % 2 === 0 ? [measureCold, measurePlain] : [measurePlain, measureCold];
        for (const measure of [...both, measurePooled]) await measure();
      }
      return { ...times, memory, engine };
    }),
  );
}

/** Runs a second, as many at a time as the configuration allows, each in a container of its own. */
function measureSustained(config: PythonConfig, jobs: number): Promise<number> {
  return withSandbox(config, { prewarm: 0 }, async (sandbox) => {
    progress(`${jobs} runs, ${config.concurrency} at a time …`);
    let left = jobs;
    const work = async () => {
      while (left-- > 0) await runFunction(sandbox);
    };
    const spentMs = await timed(async () => {
      await Promise.all(Array.from({ length: config.concurrency }, work));
      await untilQuiet(sandbox, 0);
    });
    return (jobs * 1000) / spentMs;
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function runFunction(sandbox: PythonSandbox): Promise<void> {
  const { signal } = new AbortController();
  const outcome: RunOutcome = await sandbox.run({ code: FUNCTION, entrypoint: null, arguments: { a: 1 }, signal });
  if (outcome.kind !== 'value') throw new Error(`A run ended as ${JSON.stringify(outcome)}.`);
}

async function untilQuiet(sandbox: PythonSandbox, idle: number): Promise<void> {
  for (;;) {
    const state = await sandbox.describe();
    if (state.kind === 'unavailable') throw new Error(state.message);
    if (state.idle === idle && state.running === 0) return;
    await sleep(20);
  }
}

function dockerRun(command: EngineCommand, image: string): Promise<void> {
  const args = ['run', '--rm', '--pull=never', '--network', 'none', '--entrypoint', 'python3', image, '-c', 'pass'];
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, [...command.prefix, ...args], { env: command.environment, stdio: 'ignore' });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`docker run ended with ${code}.`))));
  });
}

function report(measured: {
  colds: number[];
  plains: number[];
  warms: number[];
  sustained: number;
  memory: number;
  pairs: number;
  engine: string;
}): BenchResult {
  const { colds, plains, warms, sustained, memory, pairs, engine } = measured;
  const median = (values: number[]) => percentile(values, 0.5);
  const figures: Figure[] = [
    { name: 'pairs', value: pairs, unit: '' },
    { name: 'docker run of the image, median', value: median(plains), unit: 'ms' },
    { name: 'a run without a pool, median', value: median(colds), unit: 'ms' },
    {
      name: 'a run without a pool over docker run',
      value: median(colds) / median(plains),
      unit: '×',
      wanted: { max: 1.15 },
    },
    { name: 'a run from the pool, median', value: median(warms), unit: 'ms' },
    { name: 'a run from the pool, p95', value: percentile(warms, 0.95), unit: 'ms' },
    {
      name: 'docker run over a run from the pool',
      value: median(plains) / median(warms),
      unit: '×',
      wanted: { min: 40 },
    },
    { name: 'sustained runs', value: sustained, unit: 'a second' },
    { name: 'memory of a container that waits', value: memory, unit: 'MiB' },
  ];
  return { figures, tables: [], notes: [`Engine: ${engine}.`] };
}
