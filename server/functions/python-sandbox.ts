/** What a function takes and gives: any JSON. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** One call of an author's function, in a container of its own (R88). */
export interface PythonRun {
  /** Python source; an indented one is dedented. At most `SANDBOX_LIMITS.codeBytes` of UTF-8. */
  code: string;
  /** The function to call; null for the last top-level `def` or `async def` (R91, R92). */
  entrypoint: string | null;
  /** Passed as keyword arguments. */
  arguments: Record<string, JsonValue>;
  /** Left out: the configured default. Brought into 1,000–60,000 ms. */
  timeoutMs?: number;
  /** Who asks, such as a user id: callers take turns when runs have to wait. */
  caller?: string;
  signal: AbortSignal;
}

/** What every run that reached a container leaves behind. */
export interface RunOutput {
  /** What the function printed; both together at most `SANDBOX_LIMITS.logBytes` of UTF-8, storable text. */
  stdout: string;
  stderr: string;
  /** True where more was printed than is kept. */
  outputTruncated: boolean;
  /** From the arrival of the job in its container to its end, in ms. 0 where it never got there. */
  durationMs: number;
}

/** The ways a run ends without a value that are the function's or the caller's doing. */
export type RunFailure =
  /** `line`: the deepest line of the author's code, 1-based. `traceback`: the author's lines only, for reading. */
  | { kind: 'exception'; type: string; message: string; line: number | null; traceback: string }
  | { kind: 'syntax'; message: string; line: number | null; column: number | null }
  /** `entrypoint`: the name that was asked for; null where the code defines no function at all. */
  | { kind: 'no-entrypoint'; entrypoint: string | null; message: string }
  /** The value is not JSON; `reason` names the type or what is wrong, in English. */
  | { kind: 'not-json'; reason: string }
  | { kind: 'timeout'; timeoutMs: number }
  /** More memory than the container has. `line` is known where Python noticed it itself. */
  | { kind: 'memory'; limitBytes: number; line: number | null }
  | { kind: 'limit'; limit: 'code' | 'request' | 'result'; allowedBytes: number; foundBytes: number }
  /** The Python process ended without a result: a segmentation fault, `os._exit`, a kill. */
  | { kind: 'crashed'; exitCode: number | null; signal: number | null }
  /** The signal of the request fired; nothing of the run goes on. */
  | { kind: 'cancelled' };

export type RunOutcome = ({ kind: 'value'; value: JsonValue } | RunFailure) & RunOutput;

/** A place in the code that Python refuses or warns of. Lines and columns are 1-based. */
export interface SyntaxProblem {
  severity: 'error' | 'warning';
  message: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** `functions`: the names of the top-level functions, in order. Empty `problems`: the code compiles. */
export type SyntaxOutcome = { kind: 'checked'; problems: SyntaxProblem[]; functions: string[] } | RunFailure;

/** What the sandbox is, for `doctor`, health and the interface. `code` as in SandboxError. */
export type SandboxState =
  | {
      kind: 'ready';
      /** `docker`, or `wsl NAME`. */
      engine: string;
      engineVersion: string;
      image: string;
      pythonVersion: string;
      /** Containers started ahead, runs going on, runs waiting. */
      idle: number;
      running: number;
      waiting: number;
      /** What a person should know although it is no fault. */
      notes: string[];
    }
  | { kind: 'unavailable'; code: string; message: string };

/**
 * Runs authors' Python in isolated one-shot containers, never on the host (R103). What is the author's or the
 * caller's doing comes back as an outcome; what is not is thrown as SandboxError (no engine, unsafe engine, busy).
 */
export interface PythonSandbox {
  /** Checks the engine and starts containers ahead, in the background. Never throws; what fails is tried again by `run`. */
  start(): void;
  /** Throws SandboxError. */
  run(request: PythonRun): Promise<RunOutcome>;
  /** Compiles without running. Throws SandboxError. */
  checkSyntax(code: string, asked: { caller: string; signal: AbortSignal }): Promise<SyntaxOutcome>;
  /** Checks the engine anew where the last check failed. Never throws. */
  describe(): Promise<SandboxState>;
  /** Cancels what runs, removes every container of this instance. Safe to repeat. */
  close(): Promise<void>;
}

/**
 * What a run may use (R98, R99). `requestBytes`: of the JSON `{code, entrypoint, arguments}`; `resultBytes`: of the
 * value as JSON. All of UTF-8; a size of exactly the limit passes.
 */
export const SANDBOX_LIMITS = {
  codeBytes: 64 * 1024,
  requestBytes: 128 * 1024,
  resultBytes: 256 * 1024,
  logBytes: 8 * 1024,
  minTimeoutMs: 1000,
  maxTimeoutMs: 60_000,
} as const;
