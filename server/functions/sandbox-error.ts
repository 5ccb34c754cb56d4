/**
 * Why the sandbox could not run anything, none of it the function's doing.
 * - `sandbox_unavailable`: no engine answers (not installed, not running, no permission).
 * - `sandbox_image_missing`: the configured image is not on the engine; nothing is pulled (R110).
 * - `sandbox_unsafe`: the engine or the image does not hold a limit or a wall; nothing runs until it does.
 * - `sandbox_full`: the engine's disk or memory is used up.
 * - `sandbox_busy`: as many runs as may wait are waiting, or this one waited too long.
 * - `sandbox_failed`: the engine broke off in the middle of a run.
 * - `sandbox_closed`: the server is stopping.
 */
export type SandboxErrorCode =
  | 'sandbox_unavailable'
  | 'sandbox_image_missing'
  | 'sandbox_unsafe'
  | 'sandbox_full'
  | 'sandbox_busy'
  | 'sandbox_failed'
  | 'sandbox_closed';

const RETRYABLE: readonly SandboxErrorCode[] = ['sandbox_busy', 'sandbox_failed'];

/** A run that did not happen for a reason outside the function. `message` says what to do; `cause` is for the log. */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
  /** True when the same request may succeed in a moment. */
  readonly retryable: boolean;

  constructor(code: SandboxErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SandboxError';
    this.code = code;
    this.retryable = RETRYABLE.includes(code);
  }
}
