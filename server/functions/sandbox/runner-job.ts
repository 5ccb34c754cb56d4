import type { PythonConfig } from '../../config.ts';
import { type PythonRun, type RunFailure, SANDBOX_LIMITS } from '../python-sandbox.ts';
import type { RunnerJob } from './runner-protocol.ts';

/**
 * Python's own memory limit, below the container's: a MemoryError with a line number tells an author more than a kill. What
 * is left is for the supervisor and a full /tmp.
 */
export function dataBytes(config: Pick<PythonConfig, 'memoryMiB'>): number {
  return Math.floor(config.memoryMiB * 0.8) * 1024 * 1024;
}

/** The job of a call, or which limit it is over (R99). */
export function callJob(
  request: Pick<PythonRun, 'code' | 'entrypoint' | 'arguments'>,
  config: PythonConfig,
): RunnerJob | Extract<RunFailure, { kind: 'limit' }> {
  const { code, entrypoint } = request;
  const over =
    overLimit('code', Buffer.byteLength(code), SANDBOX_LIMITS.codeBytes) ??
    overLimit('request', requestBytes(request), SANDBOX_LIMITS.requestBytes);
  if (over) return over;
  return {
    mode: 'call',
    code,
    entrypoint,
    arguments: request.arguments,
    result_bytes: SANDBOX_LIMITS.resultBytes,
    data_bytes: dataBytes(config),
  };
}

/** The job of a syntax check, or the limit it is over. */
export function checkJob(code: string, config: PythonConfig): RunnerJob | Extract<RunFailure, { kind: 'limit' }> {
  const job = callJob({ code, entrypoint: null, arguments: {} }, config);
  return 'kind' in job ? job : { ...job, mode: 'check' };
}

function requestBytes({
  code,
  entrypoint,
  arguments: given,
}: Pick<PythonRun, 'code' | 'entrypoint' | 'arguments'>): number {
  return Buffer.byteLength(JSON.stringify({ code, entrypoint, arguments: given }));
}

function overLimit(
  limit: 'code' | 'request',
  foundBytes: number,
  allowedBytes: number,
): Extract<RunFailure, { kind: 'limit' }> | null {
  return foundBytes > allowedBytes ? { kind: 'limit', limit, allowedBytes, foundBytes } : null;
}
