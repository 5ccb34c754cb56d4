import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import type { PythonConfig } from '../config.ts';
import type { PythonRun, PythonSandbox } from '../functions/python-sandbox.ts';
import { createPythonSandbox } from '../functions/sandbox/create-python-sandbox.ts';
import { createLog } from '../observability/log.ts';

/** The engine that `npm test` started, with the image of its configuration; null where there is none. */
export const testDockerHost = process.env['KNOWHY_TEST_DOCKER_HOST'] || null;

/** A suite that needs a real container engine; skipped by name where there is none. */
export function describeWithEngine(name: string, suite: () => void): void {
  describe.skipIf(testDockerHost === null)(`${name} on a container engine`, suite);
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
