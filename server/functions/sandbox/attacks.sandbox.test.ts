import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeWithEngine, openSandbox, pythonRun, untilNothingIsLeft } from '../../testing/python-sandbox.ts';
import type { JsonValue, RunOutcome } from '../python-sandbox.ts';

/*
 * Hostile functions, one file each, with what must become of them in attacks.json. `verdict` lists the ends that are fine:
 * an attack may ruin its own run, never its limits, the server, or what the server believes.
 */

const FOLDER = join(import.meta.dirname, 'attacks');
/** Attacks that may run into their time get little of it, the others enough on a machine under load. */
const [SHORT_MS, LONG_MS] = [2000, 20_000];

const attacks = z
  .array(
    z.object({
      file: z.string(),
      family: z.string(),
      params: z.record(z.string(), z.json()),
      opts: z.object({ entrypoint: z.string().optional() }).optional(),
      expect: z.object({
        verdict: z.array(z.string()),
        result: z.json().optional(),
        kind: z.string().optional(),
        errorType: z.string().optional(),
        line: z.number().optional(),
        traceLines: z.array(z.number()).optional(),
        stdout: z.string().optional(),
        stdoutMax: z.number().optional(),
        messageMax: z.number().optional(),
        maxMs: z.number().optional(),
      }),
      note: z.string(),
    }),
  )
  .parse(JSON.parse(readFileSync(join(FOLDER, 'attacks.json'), 'utf8')));

/** The kinds of an outcome in the words of attacks.json. */
const VERDICTS: Record<RunOutcome['kind'], string> = {
  value: 'ok',
  exception: 'error',
  syntax: 'error',
  'no-entrypoint': 'error',
  'not-json': 'error',
  timeout: 'timeout',
  memory: 'memory',
  limit: 'limit',
  crashed: 'crash',
  cancelled: 'cancelled',
};

const sandbox = openSandbox({ concurrency: 3 });

describeWithEngine('hostile functions', () => {
  afterAll(async () => {
    await sandbox.close();
    await untilNothingIsLeft();
  });

  for (const family of new Set(attacks.map((attack) => attack.family))) {
    describe.concurrent(family, () => {
      for (const attack of attacks.filter((other) => other.family === family)) {
        it(`${attack.file} ${attack.note}`.trim(), async () => {
          const outcome = await sandbox.run(
            pythonRun(readFileSync(join(FOLDER, attack.file), 'utf8'), {
              arguments: attack.params as Record<string, JsonValue>,
              entrypoint: attack.opts?.entrypoint ?? null,
              timeoutMs: attack.expect.verdict.includes('timeout') ? SHORT_MS : LONG_MS,
              caller: attack.file,
            }),
          );

          expect(violations(attack.expect, outcome)).toEqual([]);
        });
      }
    });
  }
});

function violations(wanted: (typeof attacks)[number]['expect'], outcome: RunOutcome): string[] {
  const said = JSON.stringify(outcome).slice(0, 2000);
  const error = outcome.kind === 'exception' ? outcome : null;
  const message = error?.message ?? '';
  const type = outcome.kind === 'syntax' ? 'SyntaxError' : error?.type;
  const checks: [boolean, string][] = [
    [
      wanted.errorType === undefined || type === undefined || type === wanted.errorType,
      `wanted a ${wanted.errorType}: ${said}`,
    ],
    [wanted.verdict.includes(VERDICTS[outcome.kind]), `wanted ${wanted.verdict.join(' or ')}: ${said}`],
    [wanted.kind === undefined || outcome.kind === wanted.kind, `wanted ${wanted.kind}: ${said}`],
    [wanted.stdout === undefined || outcome.stdout.includes(wanted.stdout), `wanted ${wanted.stdout} printed: ${said}`],
    [outcome.stdout.length <= (wanted.stdoutMax ?? Infinity), `printed ${outcome.stdout.length}`],
    [message.length <= (wanted.messageMax ?? Infinity), `a message of ${message.length}`],
    [outcome.durationMs <= (wanted.maxMs ?? Infinity), `took ${outcome.durationMs} ms`],
    [!('polluted' in {}), 'the prototype of objects was changed'],
  ];
  if (outcome.kind === 'value' && wanted.result !== undefined) {
    checks.push([JSON.stringify(outcome.value) === JSON.stringify(wanted.result), `another value: ${said}`]);
  }
  if (error) {
    const lines = [...error.traceback.matchAll(/^ {2}line (\d+)/gm)].map((match) => Number(match[1]));
    checks.push([wanted.line === undefined || error.line === wanted.line, `another line: ${said}`]);
    checks.push([
      wanted.traceLines === undefined || String(lines) === String(wanted.traceLines),
      `another traceback: ${said}`,
    ]);
  }
  return checks.filter(([isFine]) => !isFine).map(([, words]) => words);
}
