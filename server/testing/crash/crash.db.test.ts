import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { administer, withDatabase } from '../administer.ts';
import type { ChildOrder } from './crash-protocol.ts';
import { runCrashes } from './run-crashes.ts';

/** The long form is `npm run crash`. */
const POINTS = 12;
const TIMEOUT_MS = 240_000;

async function expectNothingLost(location: ChildOrder['location']): Promise<void> {
  const report = await runCrashes({ location, points: POINTS, seed: 3 });

  expect(report.problems).toEqual([]);
  expect(report.verified).toBe(POINTS);
  expect(report.killed).toBeGreaterThan(POINTS / 2);
  expect(report.awaits.answer).toBeGreaterThan(20);
}

describe('a server that is killed', () => {
  it(
    'R61 R62 R64 R66 R67 R81 loses nothing on pglite',
    async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'knowhy-crash-'));
      await expectNothingLost({ dataDir }).finally(() => rm(dataDir, { recursive: true, force: true }));
    },
    TIMEOUT_MS,
  );

  const postgres = inject('postgres');
  it.skipIf(postgres === null)(
    'R61 R62 R64 R66 R67 R81 loses nothing on postgresql',
    async () => {
      const { url, template } = postgres ?? { url: '', template: '' };
      const name = `knowhy_crash_test_${process.pid}`;
      await administer(url, `create database ${name} template ${template}`);
      await expectNothingLost({ url: withDatabase(url, name) }).finally(() =>
        administer(url, `drop database if exists ${name} with (force)`),
      );
    },
    TIMEOUT_MS,
  );
});
