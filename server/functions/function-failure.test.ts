import { describe, expect, it } from 'vitest';
import { LANGUAGES, messageFor } from '../http/messages.ts';
import { describeRunFailure, plainFailure } from './function-failure.ts';
import { presentResult, presentSyntax } from './present-result.ts';
import type { RunFailure } from './python-sandbox.ts';

const NO_LOGS = { stdout: '', stderr: '', truncated: false };
const KIB = 1024;

function say(outcome: RunFailure): string[] {
  const { code, values } = describeRunFailure(outcome);
  return LANGUAGES.map((language) => messageFor(code, language, values));
}

describe('what a failed run says', () => {
  it.each<[RunFailure, string, string]>([
    [
      { kind: 'exception', type: 'KeyError', message: "'a'", line: 3, traceback: '' },
      "函数在第 3 行抛出异常：KeyError: 'a'",
      "The function raised an exception on line 3: KeyError: 'a'",
    ],
    [
      { kind: 'exception', type: 'MyError', message: '', line: null, traceback: '' },
      '函数抛出异常：MyError',
      'The function raised an exception: MyError',
    ],
    [
      { kind: 'syntax', message: "'(' was never closed", line: 2, column: 1 },
      "代码第 2 行有语法错误：'(' was never closed",
      "The code has a syntax error on line 2: '(' was never closed",
    ],
    [
      { kind: 'syntax', message: 'too deep', line: null, column: null },
      '代码有语法错误：too deep',
      'The code has a syntax error: too deep',
    ],
    [
      { kind: 'no-entrypoint', entrypoint: null, message: '' },
      '代码没有定义函数。请在顶层用 def 或 async def 定义，最后一个是入口。',
      'The code defines no function: write one at the top level with def or async def; the last one is called.',
    ],
    [
      { kind: 'no-entrypoint', entrypoint: '$& {0}', message: '' },
      '代码没有定义名为“$& {0}”的函数。',
      'The code defines no function named "$& {0}".',
    ],
    [
      { kind: 'not-json', reason: 'The value is of type set.' },
      '函数的返回值不能转换为 JSON：The value is of type set.',
      'The value of the function is not JSON: The value is of type set.',
    ],
    [
      { kind: 'timeout', timeoutMs: 15_000 },
      '函数运行超过 15 秒，已终止。',
      'The function took longer than 15 s and was stopped.',
    ],
    [
      { kind: 'memory', limitBytes: 256 * KIB * KIB, line: 4 },
      '函数占用的内存超过 256 MiB，已终止。',
      'The function needed more than 256 MiB of memory and was stopped.',
    ],
    [
      { kind: 'limit', limit: 'result', allowedBytes: 256 * KIB, foundBytes: 300_000 },
      '返回值有 300000 字节，最多 256 KiB。',
      'The value has 300000 bytes; at most 256 KiB are possible.',
    ],
    [
      { kind: 'limit', limit: 'request', allowedBytes: 128 * KIB, foundBytes: 131_073 },
      '代码和参数共 131073 字节，最多 128 KiB。',
      'Code and parameters have 131073 bytes; at most 128 KiB are possible.',
    ],
    [
      { kind: 'limit', limit: 'code', allowedBytes: 64 * KIB, foundBytes: 65_537 },
      '代码有 65537 字节，最多 64 KiB。',
      'The code has 65537 bytes; at most 64 KiB are possible.',
    ],
    [
      { kind: 'crashed', exitCode: null, signal: 11 },
      'Python 进程没有给出结果就结束了（signal 11）。',
      'The Python process ended without a result (signal 11).',
    ],
    [{ kind: 'cancelled' }, '函数的运行已取消。', 'The run of the function was cancelled.'],
  ])('$kind', (outcome, chinese, english) => {
    expect(say(outcome)).toEqual([chinese, english]);
  });

  it('R111 stands in `error` beside the logs, and an exception’s traceback with it', () => {
    const failure = describeRunFailure({ kind: 'exception', type: 'E', message: 'm', line: 2, traceback: 'T' });
    const logs = { stdout: 'out', stderr: 'err', truncated: true };

    expect(presentResult({ kind: 'failed', failure, logs }, 'en-US')).toEqual({
      code: 500,
      message: 'The function raised an exception on line 2: E: m',
      data: null,
      logs: { stdout: 'out', stderr: 'err', truncated: true },
      error: { type: 'E', message: 'The function raised an exception on line 2: E: m', line: 2, traceback: 'T' },
    });
    expect(presentResult({ kind: 'value', value: [null], logs: NO_LOGS }, 'zh-CN')).toEqual({
      code: 200,
      message: '成功',
      data: [null],
      logs: { stdout: '', stderr: '' },
      error: null,
    });
    expect(
      presentResult({ kind: 'failed', failure: plainFailure('sandbox_busy'), logs: NO_LOGS }, 'en-US').error,
    ).toEqual({
      type: 'sandbox_busy',
      message: 'Too many functions are running; try again in a moment.',
      line: null,
      traceback: null,
    });
  });
});

describe('a syntax check as the editor reads it', () => {
  const problem = { severity: 'error', message: 'm', line: 2, column: 5, endLine: 2, endColumn: 8 } as const;

  it('counts lines from 1 and columns from 0, as pylint does', () => {
    expect(presentSyntax({ kind: 'checked', problems: [problem] }, 'a\r\nb', 'zh-CN')).toEqual([
      { line: 2, column: 4, endLine: 2, endColumn: 7, message: 'm', type: 'error' },
    ]);
    expect(presentSyntax({ kind: 'checked', problems: [] }, 'a', 'zh-CN')).toEqual([]);
  });

  it('points at no line that is not there', () => {
    const beyond = { ...problem, line: 9, column: 0, endLine: 10, endColumn: 0 };

    expect(presentSyntax({ kind: 'checked', problems: [beyond] }, 'a\nb', 'zh-CN')).toEqual([
      { line: 2, column: 0, endLine: 2, endColumn: 0, message: 'm', type: 'error' },
    ]);
  });

  it('does not pass for a clean one where it did not take place', () => {
    const [warning, ...rest] = presentSyntax({ kind: 'failed', failure: plainFailure('sandbox_busy') }, '', 'en-US');

    expect(warning).toMatchObject({ type: 'warning', line: 1 });
    expect(warning?.message).toBe('The syntax was not checked: Too many functions are running; try again in a moment.');
    expect(rest).toEqual([]);
  });
});
