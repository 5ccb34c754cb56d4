import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import type { PythonConfig } from '../config.ts';
import type { PythonRun, PythonSandbox } from '../functions/python-sandbox.ts';
import { createOwner } from '../functions/sandbox/container-owner.ts';
import { createPythonSandbox } from '../functions/sandbox/create-python-sandbox.ts';
import { OWNER_LABEL } from '../functions/sandbox/run-arguments.ts';
import { createLog } from '../observability/log.ts';

/** The engine that `npm test` started, with the image of its configuration; null where there is none. */
export const testDockerHost = process.env['KNOWHY_TEST_DOCKER_HOST'] || null;

/** A suite that needs a real container engine; skipped by name where there is none. */
export function describeWithEngine(name: string, suite: () => void): void {
  // Each start of a container takes most of a second of a core, and several on a machine under load.
  describe.skipIf(testDockerHost === null)(`${name} on a container engine`, { timeout: 120_000 }, suite);
}

/** The configuration of the tests' engine: the defaults, without containers started ahead. */
export function pythonConfig(changes: Partial<PythonConfig> = {}): PythonConfig {
  return {
    docker: 'docker',
    dockerHost: testDockerHost,
    wslDistribution: null,
    image: process.env['KNOWHY_TEST_PYTHON_IMAGE'] || 'knowhy-python:local',
    network: 'none',
    runtime: null,
    timeoutMs: 15_000,
    memoryMiB: 256,
    cpus: 1,
    pids: 64,
    concurrency: 2,
    prewarm: 0,
    ...changes,
  };
}

export function openSandbox(changes: Partial<PythonConfig> = {}): PythonSandbox {
  return createPythonSandbox(pythonConfig(changes), { log: createLog('silent') });
}

/** A run of `code` with defaults for what a test does not care about. */
export function pythonRun(code: string, changes: Partial<PythonRun> = {}): PythonRun {
  return { code, entrypoint: null, arguments: {}, signal: new AbortController().signal, ...changes };
}

/** What the Docker CLI prints for the tests' engine. Rejects where it fails. */
export async function docker(...args: string[]): Promise<string> {
  const env = { ...process.env, DOCKER_HOST: testDockerHost ?? '' };
  return (await promisify(execFile)('docker', args, { env })).stdout.trim();
}

/** Names of the containers that a process of this machine holds, in any state. */
export async function containersOf(pid: number): Promise<string[]> {
  const owner = `${createOwner().split('.')[0]}.${pid}.`;
  const format = `{{.Names}}\t{{.Label "${OWNER_LABEL}"}}`;
  const lines = (await docker('ps', '-a', '--filter', `label=${OWNER_LABEL}`, '--format', format)).split('\n');
  return lines
    .map((line) => line.split('\t'))
    .flatMap(([name, label]) => (name && label?.startsWith(owner) ? [name] : []));
}

/** Waits until this process holds no container and no process of a container outlives it. Throws after a minute. */
export async function untilNothingIsLeft(): Promise<void> {
  await until(async () => (await containersOf(process.pid)).length === 0 && (await strayProcesses()).length === 0);
}

/** Polls until something comes true. Throws after a minute. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('It did not come true within a minute.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Processes in the control group of a container that the engine does not know any more. */
async function strayProcesses(): Promise<string[]> {
  const found = readdirSync('/proc').flatMap((pid) => {
    const id = /^\d+$/.test(pid) ? /\/docker[/-]([0-9a-f]{64})/.exec(readProcess(pid, 'cgroup'))?.[1] : undefined;
    return id === undefined ? [] : [{ pid, id }];
  });
  const known = (await docker('ps', '-aq', '--no-trunc')).split('\n');
  return found.filter(({ id }) => !known.includes(id)).map(({ pid }) => pid);
}

/** Numbers of the processes whose command line holds `word`. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && readProcess(pid, 'cmdline').includes(word))
    .map(Number);
}

/** Empty for a process that ended meanwhile. */
function readProcess(pid: string, file: 'cgroup' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
