import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ListedContainer } from './container-engine.ts';

/** No container of a living server is older: idle ones are replaced after half of it. */
export const MAX_CONTAINER_AGE_MS = 60 * 60 * 1000;

/**
 * The label of the containers of one sandbox: `SPACE.PID.START.RANDOM`. SPACE stands for what gives process numbers
 * their meaning (host, boot, process namespace), START tells a process from a later one with its number.
 */
export function createOwner(): string {
  const random = randomBytes(6).toString('hex');
  return [processSpace(), process.pid, processStart(process.pid) ?? 0, random].join('.');
}

/**
 * The ids of containers that nobody will end any more: of processes of this machine that are gone, and of anybody when they are
 * older than any container of a living server. Another server's on the same engine stay.
 */
export function orphans(containers: readonly ListedContainer[]): string[] {
  return containers.filter(({ owner, ageMs }) => ageMs > MAX_CONTAINER_AGE_MS || isGone(owner)).map(({ id }) => id);
}

function isGone(owner: string): boolean {
  const [space, pid, start] = owner.split('.');
  if (space !== processSpace() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = processStart(Number(pid));
  return now !== null && start !== '0' && now !== start;
}

function processSpace(): string {
  const parts = [
    hostname(),
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}

/** Field 22 of /proc/PID/stat, behind the name in brackets; null where there is no /proc. A zombie counts as gone. */
function processStart(pid: number): string | null {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? null);
}

function attempt(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
