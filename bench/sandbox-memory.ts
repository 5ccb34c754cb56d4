import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { EngineCommand } from '../server/functions/sandbox/engine-command.ts';
import { OWNER_LABEL } from '../server/functions/sandbox/run-arguments.ts';

/**
 * Memory of one waiting container in MiB, shared pages divided among those that share them: its processes, the engine's shim
 * and the attached client. NaN where the engine is on another machine or /proc may not be read.
 */
export async function idleMemory(command: EngineCommand): Promise<number> {
  const args = ['ps', '--no-trunc', '--filter', `label=${OWNER_LABEL}`, '--format', '{{.ID}} {{.Names}}'];
  const { stdout } = await promisify(execFile)(command.file, [...command.prefix, ...args], {
    env: command.environment,
  });
  const containers = stdout.trim().split('\n').filter(Boolean);
  const words = containers.flatMap((line) => line.split(' '));
  const sizes = processes().filter((pid) => words.some((word) => belongsTo(pid, word)));
  const kibibytes = sizes.reduce((sum, pid) => sum + proportionalSize(pid), 0);
  return kibibytes === 0 ? Number.NaN : kibibytes / 1024 / containers.length;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function belongsTo(pid: string, word: string): boolean {
  return read(pid, 'cgroup').includes(word) || read(pid, 'cmdline').includes(word);
}

function proportionalSize(pid: string): number {
  return Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1] ?? 0);
}

/** Empty for a process that ended, or of another user. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
