import type { Logger } from 'pino';
import type { InitField, InputField } from '../../contract/functions.ts';
import { collectArguments } from './collect-arguments.ts';
import { describeRunFailure, type FunctionFailure, plainFailure } from './function-failure.ts';
import { hideSecrets, hideSecretsIn } from './hide-secrets.ts';
import { type InitParams, secretTexts } from './init-params.ts';
import type { JsonValue, PythonSandbox, RunOutcome, SyntaxOutcome } from './python-sandbox.ts';
import { SandboxError } from './sandbox-error.ts';

/** One call of a function, stored or being written. */
export interface FunctionCall {
  code: string;
  /** Null: the last top-level function (R91). */
  entrypoint: string | null;
  inputFields: readonly InputField[];
  initFields: readonly InitField[];
  initParams: InitParams | null;
  /** What the caller gives, by name: texts as a form has them, or JSON. */
  values: ReadonlyMap<string, unknown>;
  /** What becomes of a value whose name no parameter has. */
  unknownNames: 'ignore' | 'refuse';
  /** `isOwner`: may give init fields other values and may see the secrets of the function. */
  caller: { id: string; isOwner: boolean };
  /** Left out: the configured default. */
  timeoutMs?: number;
  signal: AbortSignal;
}

/** What a function printed; both together at most 8 KiB (R99). */
export interface FunctionLogs {
  stdout: string;
  stderr: string;
  /** More was printed than is kept. */
  truncated: boolean;
}

export type FunctionResult = ({ kind: 'value'; value: JsonValue } | { kind: 'failed'; failure: FunctionFailure }) & {
  logs: FunctionLogs;
};

/** A syntax check that took place, or why it did not. */
export type SyntaxResult =
  | { kind: 'checked'; problems: Extract<SyntaxOutcome, { kind: 'checked' }>['problems'] }
  | { kind: 'failed'; failure: FunctionFailure };

const NO_LOGS: FunctionLogs = { stdout: '', stderr: '', truncated: false };

/** Calls functions: converts what a caller gives, runs it in the sandbox, and says what came of it. */
export class PythonFunctionService {
  readonly #sandbox: PythonSandbox;
  readonly #log: Logger;

  constructor({ sandbox, log }: { sandbox: PythonSandbox; log: Logger }) {
    this.#sandbox = sandbox;
    this.#log = log;
  }

  /**
   * The one way to call a function, for the API, for debugging and for nodes of workflows (R116). Everything that can go
   * wrong with parameters, function and sandbox is a result of kind `failed`; without a sandbox nothing runs (R103).
   */
  async execute(call: FunctionCall): Promise<FunctionResult> {
    const collected = collectArguments({ ...call, mayOverrideInit: call.caller.isOwner });
    if (collected.kind === 'refused') {
      const { code, values } = collected.problem;
      return { kind: 'failed', failure: plainFailure(code, values), logs: NO_LOGS };
    }
    try {
      const { code, entrypoint, signal, timeoutMs } = call;
      const run = { code, entrypoint, arguments: collected.arguments, caller: call.caller.id, signal };
      const outcome = await this.#sandbox.run(timeoutMs === undefined ? run : { ...run, timeoutMs });
      return readResult(outcome, call.caller.isOwner ? [] : secretTexts(call.initParams, call.initFields));
    } catch (error) {
      return { kind: 'failed', failure: this.#describeSandboxError(error), logs: NO_LOGS };
    }
  }

  /** Compiles code in the sandbox without running it. */
  async checkSyntax(code: string, asked: { caller: string; signal: AbortSignal }): Promise<SyntaxResult> {
    try {
      const outcome = await this.#sandbox.checkSyntax(code, asked);
      if (outcome.kind === 'checked') return { kind: 'checked', problems: outcome.problems };
      return { kind: 'failed', failure: describeRunFailure(outcome) };
    } catch (error) {
      return { kind: 'failed', failure: this.#describeSandboxError(error) };
    }
  }

  /** What the engine said is for the log: it names hosts and paths that are nothing to a caller (R125). */
  #describeSandboxError(error: unknown): FunctionFailure {
    if (!(error instanceof SandboxError)) throw error;
    this.#log.warn({ code: error.code, reason: error.message }, 'a function could not run');
    return plainFailure(error.code);
  }
}

function readResult(outcome: RunOutcome, secrets: readonly string[]): FunctionResult {
  const logs = {
    stdout: hideSecrets(outcome.stdout, secrets, outcome.outputTruncated),
    stderr: hideSecrets(outcome.stderr, secrets, outcome.outputTruncated),
    truncated: outcome.outputTruncated,
  };
  if (outcome.kind === 'value') return { kind: 'value', value: hideSecretsIn(outcome.value, secrets), logs };
  return { kind: 'failed', failure: hideSecretsInFailure(describeRunFailure(outcome), secrets), logs };
}

function hideSecretsInFailure(failure: FunctionFailure, secrets: readonly string[]): FunctionFailure {
  const hide = (text: string) => hideSecrets(text, secrets, text.length >= MAX_MESSAGE_CHARACTERS);
  return {
    ...failure,
    values: failure.values.map((value) => (typeof value === 'string' ? hide(value) : value)),
    type: hide(failure.type),
    traceback: failure.traceback === null ? null : hide(failure.traceback),
  };
}

/** The runner cuts longer ones. */
const MAX_MESSAGE_CHARACTERS = 4000;
