import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatTable } from '../../cli/table.ts';
import { administer, withDatabase } from '../administer.ts';
import type { ChildOrder } from './crash-protocol.ts';
import { type CrashReport, runCrashes } from './run-crashes.ts';

const USAGE = `Usage: npm run -s crash -- [--points N] [--engine pglite|postgresql|both] [--seed N]

Kills the program with SIGKILL at N points of an answer with a compaction and of a compaction by hand: at its awaits and
at random moments. After each, a new process checks that no round is lost or merged twice, that the watermark did not go
back, that every merge counts once, that nothing is held any more, and that the next question works.

  --points N      points for each engine (200)
  --engine NAME   pglite, postgresql or both (both; postgresql needs KNOWHY_TEST_DATABASE_URL)
  --seed N        chooses the random moments (1)

Exit code: 0 nothing found, 1 something found, 2 bad usage.`;

type Engine = 'pglite' | 'postgresql';

async function main(): Promise<number> {
  const order = readOrder();
  if (order === null) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const reports: [Engine, CrashReport][] = [];
  for (const engine of order.engines) reports.push([engine, await crash(engine, order)]);
  process.stdout.write(`${describe(reports)}\n`);
  return reports.every(([, report]) => report.problems.length === 0) ? 0 : 1;
}

interface Order {
  engines: Engine[];
  points: number;
  seed: number;
}

function readOrder(): Order | null {
  try {
    const { values } = parseArgs({
      options: {
        points: { type: 'string', default: '200' },
        engine: { type: 'string', default: 'both' },
        seed: { type: 'string', default: '1' },
      },
    });
    const [points, seed] = [Number(values.points), Number(values.seed)];
    const engines: Engine[] | undefined = {
      both: ['pglite', 'postgresql'] as Engine[],
      pglite: ['pglite'] as Engine[],
      postgresql: ['postgresql'] as Engine[],
    }[values.engine];
    if (!engines || !Number.isInteger(points) || points < 1 || !Number.isInteger(seed) || seed < 1) return null;
    return { engines, points, seed };
  } catch {
    return null;
  }
}

async function crash(engine: Engine, { points, seed }: Order): Promise<CrashReport> {
  const onPoint = (done: number) => {
    if (done % 10 === 0) process.stderr.write(`${engine}: ${done} of ${points} points\n`);
  };
  return withLocation(engine, (location) => runCrashes({ location, points, seed, onPoint }));
}

/** A fresh database that is removed again. */
async function withLocation(engine: Engine, work: (location: ChildOrder['location']) => Promise<CrashReport>) {
  if (engine === 'pglite') {
    const dataDir = await mkdtemp(join(tmpdir(), 'knowhy-crash-'));
    return work({ dataDir }).finally(() => rm(dataDir, { recursive: true, force: true }));
  }
  const url = process.env['KNOWHY_TEST_DATABASE_URL'];
  if (!url)
    throw new Error('KNOWHY_TEST_DATABASE_URL must name a PostgreSQL with pgvector (tools/test-postgres.sh start).');
  const name = `knowhy_crash_${process.pid}`;
  await administer(url, `create database ${name}`);
  return work({ url: withDatabase(url, name) }).finally(() =>
    administer(url, `drop database if exists ${name} with (force)`),
  );
}

function describe(reports: readonly [Engine, CrashReport][]): string {
  const rows = reports.map(([engine, report]) =>
    [engine, report.killed, report.atAwaits, report.atRandom, report.verified, report.problems.length].map(String),
  );
  const awaits = reports.map(
    ([engine, report]) =>
      `${engine}: an answer has ${report.awaits.answer} awaits, a compaction ${report.awaits.compact}`,
  );
  const head = ['engine', 'killed', 'points at awaits', 'at random moments', 'conversations checked', 'problems'];
  const problems = reports.flatMap(([engine, report]) => report.problems.map((problem) => `${engine} ${problem}`));
  return [formatTable([head, ...rows]), ...awaits, ...problems].join('\n');
}

process.exitCode = await main();
