import { afterAll, expect, it } from 'vitest';
import { describeWithEngine, openSandbox, pythonRun } from '../../testing/python-sandbox.ts';
import type { PythonRun, RunOutcome } from '../python-sandbox.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const run = (code: string, changes?: Partial<PythonRun>): Promise<RunOutcome> => sandbox.run(pythonRun(code, changes));

describeWithEngine('R119 functions', () => {
  it('R89 gives the value of the last function, called with keyword arguments', async () => {
    const code =
      'import math\nSCALE = 2\ndef helper(x):\n    return x * SCALE\ndef area(radius, 名="圆"):\n    return [名, helper(math.floor(radius))]';

    const outcome = await run(code, { arguments: { radius: 2.5 } });

    expect(outcome).toMatchObject({ kind: 'value', value: ['圆', 4], stdout: '', stderr: '', outputTruncated: false });
  });

  it('R87 R91 awaits an async function that stands last', async () => {
    const outcome = await run(
      'import asyncio\ndef other():\n    return 1\nasync def f():\n    await asyncio.sleep(0)\n    return {"async": True}',
    );

    expect(outcome).toMatchObject({ kind: 'value', value: { async: true } });
  });

  it('R91 R92 refuses code without a function, and an entry that does not exist or is none', async () => {
    const code = 'LIMIT = 3\ndef f():\n    return 1';

    expect(await run('x = 1')).toMatchObject({ kind: 'no-entrypoint', entrypoint: null });
    expect(await run(code, { entrypoint: 'g' })).toMatchObject({ kind: 'no-entrypoint', entrypoint: 'g' });
    expect(await run(code, { entrypoint: 'LIMIT' })).toMatchObject({ kind: 'no-entrypoint', entrypoint: 'LIMIT' });
    expect(await run(`${code}\ndef g():\n    return 2`, { entrypoint: 'f' })).toMatchObject({
      kind: 'value',
      value: 1,
    });
  });

  it('R111 keeps what was printed apart from the value', async () => {
    const outcome = await run(
      'import sys\ndef f():\n    print("输出\\x00\\ud800")\n    print("oops", file=sys.stderr)\n    return "value"',
    );

    expect(outcome).toMatchObject({ kind: 'value', value: 'value', stdout: '输出\\ud800\n', stderr: 'oops\n' });
  });

  it('R119 says type, message and line of an exception, and shows the lines of the author only', async () => {
    const outcome = await run(
      'import json\ndef g(x):\n    return json.loads(x)\n\ndef f():\n    print("before")\n    return g("{")',
    );

    expect(outcome).toMatchObject({ kind: 'exception', type: 'JSONDecodeError', line: 3, stdout: 'before\n' });
    expect(outcome.kind === 'exception' && outcome.traceback).toMatch(
      /^Traceback \(most recent call last\):\n {2}line 7, in f\n {4}return g\("\{"\)\n {2}line 3, in g\n {4}return json\.loads\(x\)\nJSONDecodeError: Expecting/,
    );
  });

  it('names the place of a syntax error', async () => {
    expect(await run('def f():\n    return (1\n\nx = 2')).toMatchObject({ kind: 'syntax', line: 2 });
  });

  it('R111 checks syntax without running', async () => {
    const { signal } = new AbortController();

    const good = await sandbox.checkSyntax('raise SystemExit\ndef f(): pass\nasync def g(): pass', {
      caller: '',
      signal,
    });
    const warned = await sandbox.checkSyntax('def f():\n    return 1 is 1', { caller: '', signal });
    const bad = await sandbox.checkSyntax('def f(:\n    pass', { caller: '', signal });

    expect(good).toEqual({ kind: 'checked', problems: [], functions: ['f', 'g'] });
    expect(warned).toMatchObject({ problems: [{ severity: 'warning', line: 2 }] });
    expect(bad).toMatchObject({ problems: [{ severity: 'error', line: 1, column: 7 }] });
  });

  it.each([
    ['NaN', '[1, {"a": float("nan")}]', "The value at [1]['a'] is NaN"],
    ['infinity', '-float("inf")', 'The value is an infinite number'],
    ['a function', 'print', 'of type builtin_function_or_method'],
    ['a generator', '(x for x in [])', 'of type generator'],
    ['a set', '{1, 2}', 'of type set'],
    ['bytes', 'b"x"', 'of type bytes'],
    ['a key that is a tuple', '{(1, 2): 3}', 'a dict with a key of type tuple'],
    ['keys that are one text', '{1: "a", "1": "b"}', 'two keys that are the same text'],
    ['an object', 'object()', 'of type object'],
    ['101 levels', 'eval("[" * 101 + "]" * 101)', 'nested deeper than 100 levels'],
  ])('refuses %s as a value by name', async (_name, expression, reason) => {
    const outcome = await run(`def f():\n    return ${expression}`);

    expect(outcome).toMatchObject({ kind: 'not-json', reason: expect.stringContaining(reason) });
  });

  it('takes an author’s own MemoryError for what it is', async () => {
    expect(await run('class MemoryError(Exception): pass\ndef f(): raise MemoryError')).toMatchObject({
      kind: 'exception',
      line: 2,
    });
    expect(await run('def f(): raise MemoryError("the shelf is full")')).toMatchObject({
      message: 'the shelf is full',
    });
  });

  it('R87 leaves code as it is unless all of it is indented', async () => {
    expect(await run('\ndef f():\n    return """a\n   \nb"""')).toMatchObject({ value: 'a\n   \nb' });
    expect(await run('\n    def f():\n        return 1\n')).toMatchObject({ value: 1 });
  });

  it('R105 installs nothing that code imports', async () => {
    expect(await run('import requests\ndef f(): pass')).toMatchObject({
      kind: 'exception',
      type: 'ModuleNotFoundError',
    });
  });

  it('refuses a list that holds itself', async () => {
    expect(await run('def f():\n    x = [1]\n    x.append(x)\n    return x')).toMatchObject({
      kind: 'not-json',
      reason: expect.stringContaining('a container that holds itself'),
    });
  });

  it('makes values storable and keeps what JSON has no type for as text', async () => {
    const outcome = await run(
      'import datetime, decimal, uuid\ndef f():\n    return ["a\\x00b\\ud800", "\\ud83d\\ude00", {"\\x00k": (1, 2)}, 2**53, datetime.date(2026, 12, 2), decimal.Decimal("1.10"), uuid.UUID(int=1), {"__proto__": {"a": 1}}]',
    );

    expect(outcome.kind === 'value' && JSON.stringify(outcome.value)).toBe(
      '["ab\uFFFD","😀",{"k":[1,2]},"9007199254740992","2026-12-02","1.10","00000000-0000-0000-0000-000000000001",{"__proto__":{"a":1}}]',
    );
  });

  it('R119 ends a function that takes too long', async () => {
    const before = performance.now();

    const outcome = await run('import time\nprint("started")\ndef f():\n    while True: time.sleep(1)', {
      timeoutMs: 1000,
    });

    expect(outcome).toMatchObject({ kind: 'timeout', timeoutMs: 1000, stdout: 'started\n' });
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('cancels', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1500);

    const outcome = await run('import time\ndef f(): time.sleep(60)', { timeoutMs: 60_000, signal: controller.signal });

    expect(outcome.kind).toBe('cancelled');
    expect((await run('def f(): return 1', { signal: AbortSignal.abort() })).kind).toBe('cancelled');
  });
});
