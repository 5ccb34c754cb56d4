import type { FunctionAnswer, LintProblem } from '../../contract/functions.ts';
import { type Language, messageFor } from '../http/messages.ts';
import type { FunctionLogs, FunctionResult, SyntaxResult } from './python-function-service.ts';

/** Of every failure: the official editor's debug panel looks at this one number (maxkb-v1-api.md section 9.1). */
const FAILED = 500;

/** What came of a call, as the envelope with the logs and the error beside its `data` (R111). */
export function presentResult(result: FunctionResult, language: Language): FunctionAnswer {
  const logs = presentLogs(result.logs);
  if (result.kind === 'value') {
    return { code: 200, message: messageFor('success', language), data: result.value, logs, error: null };
  }
  const { code, values, type, line, traceback } = result.failure;
  const message = messageFor(code, language, values);
  return { code: FAILED, message, data: null, logs, error: { type, message, line, traceback } };
}

/**
 * The problems of a syntax check. A check that did not take place is a warning on the first line: an empty list would
 * say that all is well, and an error would cover the editor with messages while somebody types.
 */
export function presentSyntax(result: SyntaxResult, code: string, language: Language): LintProblem[] {
  if (result.kind === 'failed') {
    const { code: failureCode, values, line } = result.failure;
    const why = messageFor(failureCode, language, values);
    const place = onLine(line ?? 1, code);
    return [{ ...place, message: messageFor('function_unchecked', language, [why]), type: 'warning' }];
  }
  return result.problems.map(({ severity, message, line, column, endLine, endColumn }) => ({
    ...onLine(line, code),
    column: Math.max(0, column - 1),
    endLine: onLine(endLine, code).line,
    endColumn: Math.max(0, endColumn - 1),
    message,
    type: severity,
  }));
}

function presentLogs({ stdout, stderr, truncated }: FunctionLogs): FunctionAnswer['logs'] {
  return truncated ? { stdout, stderr, truncated } : { stdout, stderr };
}

/** The editor breaks on a line that is not there, and Python may point behind the last. */
function onLine(line: number, code: string) {
  const inside = Math.min(Math.max(1, line), code.split(/\r\n|\r|\n/).length);
  return { line: inside, column: 0, endLine: inside, endColumn: 0 };
}
