import type { ParameterProblem } from './convert-parameters.ts';
import type { RunFailure } from './python-sandbox.ts';
import type { SandboxErrorCode } from './sandbox-error.ts';

/** Why a function gave no value; the words of each, in every language, belong to the http folder. */
export type FunctionFailureCode =
  | ParameterProblem['code']
  | 'function_exception'
  | 'function_exception_at'
  | 'function_syntax'
  | 'function_syntax_at'
  | 'function_no_entrypoint'
  | 'function_unknown_entrypoint'
  | 'function_not_json'
  | 'function_timeout'
  | 'function_memory'
  | 'function_code_limit'
  | 'function_request_limit'
  | 'function_result_limit'
  | 'function_crashed'
  | 'function_cancelled'
  | SandboxErrorCode;

export interface FunctionFailure {
  code: FunctionFailureCode;
  /** What the message of the code needs, in its order. */
  values: readonly (string | number)[];
  /** The Python exception's class; else the code. */
  type: string;
  /** Of the author's code, counted from 1. */
  line: number | null;
  /** The lines of the author's code only. */
  traceback: string | null;
}

/** A failure with nothing to say about a place in the code. */
export function plainFailure(
  code: FunctionFailureCode,
  values: readonly (string | number)[] = [],
  line: number | null = null,
): FunctionFailure {
  return { code, values, type: code, line, traceback: null };
}

/** What the outcome of a run means to the person who called the function. */
export function describeRunFailure(outcome: RunFailure): FunctionFailure {
  switch (outcome.kind) {
    case 'exception':
      return describeException(outcome);
    case 'syntax':
      return describeSyntax(outcome);
    case 'no-entrypoint':
      return outcome.entrypoint === null
        ? plainFailure('function_no_entrypoint')
        : plainFailure('function_unknown_entrypoint', [outcome.entrypoint]);
    case 'not-json':
      return plainFailure('function_not_json', [outcome.reason]);
    case 'timeout':
      return plainFailure('function_timeout', [Math.round(outcome.timeoutMs / 1000)]);
    case 'memory':
      return plainFailure('function_memory', [Math.round(outcome.limitBytes / 1024 / 1024)], outcome.line);
    case 'limit':
      return plainFailure(`function_${outcome.limit}_limit`, [outcome.foundBytes, outcome.allowedBytes / 1024]);
    case 'crashed':
      return plainFailure('function_crashed', [describeExit(outcome)]);
    case 'cancelled':
      return plainFailure('function_cancelled');
  }
}

function describeException({ type, message, line, traceback }: Extract<RunFailure, { kind: 'exception' }>) {
  const words = message === '' ? type : `${type}: ${message}`;
  const failure =
    line === null
      ? plainFailure('function_exception', [words])
      : plainFailure('function_exception_at', [words, line], line);
  return { ...failure, type, traceback };
}

function describeSyntax({ message, line }: Extract<RunFailure, { kind: 'syntax' }>): FunctionFailure {
  const failure =
    line === null
      ? plainFailure('function_syntax', [message])
      : plainFailure('function_syntax_at', [message, line], line);
  return { ...failure, type: 'SyntaxError' };
}

function describeExit({ exitCode, signal }: Extract<RunFailure, { kind: 'crashed' }>): string {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? 'no exit code' : `exit code ${exitCode}`;
}
