import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../observability/package-root.ts';
import { type ChildLine, type ChildOrder, type CrashWork, childLine, type PlantedChat } from './crash-protocol.ts';

/** The build: what people run, and it starts in a third of the time. */
const CHILD = join(packageRoot(), 'dist', 'server', 'testing', 'crash', 'crash-child.js');
/** A crashed server's lease has run out by then: the time of a lease, and a little. In ms. */
const CHECKED_AFTER_MS = 8500;
const CHILD_DEADLINE_MS = 60_000;

export interface CrashRun {
  location: ChildOrder['location'];
  points: number;
  /** Chooses random points; the same number chooses the same ones. */
  seed: number;
  onPoint?(done: number): void;
}

/** `awaits`: how many each kind of work has. `problems`: what the checker found, with the point. */
export interface CrashReport {
  awaits: { answer: number; compact: number };
  killed: number;
  /** Killed at an await, and by the clock. */
  atAwaits: number;
  atRandom: number;
  verified: number;
  problems: string[];
}

/** At an await, or after a share of the time that the whole work takes. */
type CrashPoint = { work: CrashWork } & ({ killAt: number } | { share: number });

interface Pending {
  chat: PlantedChat;
  point: CrashPoint;
  diedMs: number;
}

/**
 * Kills the program at `points` points, each in a process and a conversation of its own: at its awaits, all of them
 * where there are points enough, else evenly spread, and at random moments. What a process left is checked by a later
 * one. Throws where a process fails otherwise.
 */
export async function runCrashes(run: CrashRun): Promise<CrashReport> {
  const measured = await measure(run);
  const awaits = { answer: measured.answer.awaits, compact: measured.compact.awaits };
  const points = choosePoints(awaits, run);
  const report: CrashReport = { awaits, killed: 0, atAwaits: 0, atRandom: 0, verified: 0, problems: [] };
  let pending: Pending[] = [];
  for (const [place, point] of points.entries()) {
    const due = pending.filter(({ diedMs }) => performance.now() - diedMs >= CHECKED_AFTER_MS);
    pending = pending.filter((one) => !due.includes(one));
    const killAfterMs = 'share' in point ? point.share * measured[point.work].workMs : null;
    const killAt = 'killAt' in point ? point.killAt : null;
    const child = await runChild(
      { location: run.location, verify: due.map(({ chat }) => chat), work: [point.work], killAt },
      killAfterMs,
    );
    takeVerdicts(report, due, child);
    if (child.chat) pending.push({ chat: child.chat, point, diedMs: performance.now() });
    if (child.wasKilled) report.killed += 1;
    if ('killAt' in point) report.atAwaits += 1;
    else report.atRandom += 1;
    run.onPoint?.(place + 1);
  }
  await untilDue(pending);
  const last = await runChild({
    location: run.location,
    verify: pending.map(({ chat }) => chat),
    work: [],
    killAt: null,
  });
  takeVerdicts(report, pending, last);
  return report;
}

/** Waits until what the last ones left may be checked too. */
async function untilDue(pending: readonly Pending[]): Promise<void> {
  const lastDiedMs = Math.max(...pending.map(({ diedMs }) => diedMs));
  await pause(Math.max(0, lastDiedMs + CHECKED_AFTER_MS - performance.now()));
}

/** How many awaits each work has, and how long it takes in ms, when nobody kills it. */
async function measure({ location }: CrashRun): Promise<Record<CrashWork, { awaits: number; workMs: number }>> {
  const { done } = await runChild({ location, verify: [], work: ['answer', 'compact'], killAt: null });
  const [answer, compact] = [done.get('answer'), done.get('compact')];
  if (!answer || !compact) throw new Error('The work did not come to its end although nobody killed it.');
  return { answer, compact };
}

/** A third of the points, at least those beyond the awaits, are random moments. */
function choosePoints(awaits: CrashReport['awaits'], { points, seed }: CrashRun): CrashPoint[] {
  const all: CrashPoint[] = (['answer', 'compact'] as const).flatMap((work) =>
    Array.from({ length: awaits[work] }, (_, place) => ({ work, killAt: place + 1 })),
  );
  const count = Math.min(all.length, Math.ceil((points * 2) / 3));
  const spread = Array.from({ length: count }, (_, place) => all[Math.floor((place * all.length) / count)]);
  const random = randomShares(seed);
  const moments: CrashPoint[] = Array.from({ length: points - count }, (_, place) => ({
    work: place % 3 === 2 ? 'compact' : 'answer',
    share: random(),
  }));
  return [...spread.filter((point) => point !== undefined), ...moments];
}

function randomShares(seed: number): () => number {
  let state = (seed * 16_807_001) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function takeVerdicts(report: CrashReport, due: readonly Pending[], child: ChildResult): void {
  for (const { chat, point } of due) {
    const verdict = child.verdicts.get(chat.chatId);
    if (verdict) report.verified += 1;
    const problems = verdict ?? ['it was not checked'];
    report.problems.push(...problems.map((problem) => `${JSON.stringify(point)}: ${problem}`));
  }
}

interface ChildResult {
  verdicts: Map<string, string[]>;
  chat: PlantedChat | null;
  done: Map<CrashWork, { awaits: number; workMs: number }>;
  wasKilled: boolean;
}

/** Runs one process to its end, whoever brings it. Throws where it fails by itself. */
async function runChild(order: ChildOrder, killAfterMs: number | null = null): Promise<ChildResult> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let hangs = false;
  const deadline = setTimeout(
    () => {
      hangs = true;
      child.kill('SIGKILL');
    },
    CHILD_DEADLINE_MS + order.verify.length * 12_000,
  );
  let complaint = '';
  child.stderr.on('data', (data) => {
    complaint += data;
  });
  const result: ChildResult = { verdicts: new Map(), chat: null, done: new Map(), wasKilled: false };
  let plantedMs = 0;
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    const said = childLine.parse(JSON.parse(line));
    if (said.say === 'planted') {
      plantedMs = performance.now();
      if (killAfterMs !== null) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    }
    if (said.say === 'done') {
      result.done.set(said.work, { awaits: said.awaits, workMs: performance.now() - plantedMs });
    }
    hear(result, said);
  }
  const [code, signal] = (await closed) as [number | null, NodeJS.Signals | null];
  clearTimeout(deadline);
  if (hangs) throw new Error(`The program hangs: ${JSON.stringify(order)}`);
  result.wasKilled = signal === 'SIGKILL';
  if (code !== 0 && !result.wasKilled) throw new Error(`The program failed (${code ?? signal}): ${complaint}`);
  return result;
}

function hear(result: ChildResult, line: ChildLine): void {
  const { chat } = result;
  switch (line.say) {
    case 'verified':
      result.verdicts.set(line.chatId, line.problems);
      return;
    case 'planted':
      result.chat = { chatId: line.chatId, rounds: line.rounds, recordId: null, revision: 0, hasEnded: false };
      return;
    case 'accepted':
      if (chat) chat.recordId = line.recordId;
      return;
    case 'merged':
      // Merges of conversations that are checked come before the work.
      if (chat) chat.revision = line.revision;
      return;
    case 'ended':
      if (chat) chat.hasEnded = true;
      return;
    case 'done':
      return;
  }
}
