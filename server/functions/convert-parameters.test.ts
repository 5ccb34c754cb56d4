import { describe, expect, it } from 'vitest';
import type { InputField, ParameterType } from '../../contract/functions.ts';
import { convertParameters } from './convert-parameters.ts';

const field = (type: ParameterType, changes: Partial<InputField> = {}): InputField => ({
  name: 'x',
  type,
  is_required: true,
  source: 'custom',
  ...changes,
});

function convert(type: ParameterType, value: unknown, isRequired = true): unknown {
  const result = convertParameters([field(type, { is_required: isRequired })], new Map([['x', value]]));
  return result.kind === 'refused' ? result.problem : Object.fromEntries(result.parameters);
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepValue = (levels: number): unknown => JSON.parse(deep(levels));

describe('R113 converting parameters', () => {
  it.each<[ParameterType, unknown, unknown]>([
    ['string', ' 007 ', ' 007 '],
    ['string', '{"a":1}', '{"a":1}'],
    ['string', '中文😀\u0000\ud800', '中文😀\u0000\ud800'],
    ['int', '42', 42],
    ['int', ' -7\n', -7],
    ['int', '+0012', 12],
    ['int', '４２', 42],
    ['float', '－１．５Ｅ２', -150],
    [
      'dict',
      '{"a":"12345678901234567890","b":1.12345678901234567890}',
      { a: '12345678901234567890', b: 1.1234567890123457 },
    ],
    ['int', 3, 3],
    ['int', '9007199254740991', 9007199254740991],
    ['float', '2.50', 2.5],
    ['float', '.5', 0.5],
    ['float', '5.', 5],
    ['float', '-1e-3', -0.001],
    ['float', 1e300, 1e300],
    ['float', '12', 12],
    ['dict', '{"a":{"b":[1,null,"中"]}}', { a: { b: [1, null, '中'] } }],
    ['dict', { a: 1e300 }, { a: 1e300 }],
    ['dict', '{}', {}],
    ['array', '[1, "2"]', [1, '2']],
    ['array', [], []],
    ['array', deep(100), deepValue(100)],
  ])('reads %s from %j', (type, value, expected) => {
    expect(convert(type, value)).toEqual({ x: expected });
  });

  it.each<[ParameterType, unknown, string]>([
    ['string', 5, '5'],
    ['string', ['a'], '["a"]'],
    ['int', '4.5', '4.5'],
    ['int', 4.5, '4.5'],
    ['int', '1e3', '1e3'],
    ['int', '0x10', '0x10'],
    ['int', '1_000', '1_000'],
    ['int', 'NaN', 'NaN'],
    ['int', ' ', ' '],
    ['int', true, 'true'],
    ['int', '一', '一'],
    ['int', '10²', '10²'],
    ['int', '①', '①'],
    ['float', '1.5²', '1.5²'],
    ['float', 'NaN', 'NaN'],
    ['float', 'Infinity', 'Infinity'],
    ['float', '-inf', '-inf'],
    ['float', '1,5', '1,5'],
    ['float', '.', '.'],
    ['float', false, 'false'],
    ['float', {}, '{}'],
    ['dict', '[1]', '[1]'],
    ['dict', 'null', 'null'],
    ['dict', "{'a': 1}", "{'a': 1}"],
    ['dict', '{"a":NaN}', '{"a":NaN}'],
    ['dict', [], '[]'],
    ['array', '{"0":1}', '{"0":1}'],
    ['array', '1', '1'],
    ['array', '[1', '[1'],
    ['array', { length: 0 }, '{"length":0}'],
  ])('refuses %s from %j, naming field, type and value', (type, value, shown) => {
    expect(convert(type, value)).toEqual({ code: 'function_parameter_wrong', values: ['x', type, shown] });
  });

  it.each<[ParameterType, unknown]>([
    ['int', '9007199254740992'],
    ['int', '9'.repeat(400)],
    ['int', 2 ** 53],
    ['float', '1e400'],
    ['float', Number.POSITIVE_INFINITY],
    ['dict', '{"id": 12345678901234567890}'],
    ['array', '[[1e999]]'],
    ['array', [2 ** 60]],
  ])('refuses a number in %s that would arrive as another one: %j', (type, value) => {
    expect(convert(type, value)).toMatchObject({
      code: 'function_parameter_inexact',
      values: ['x', type, expect.any(String)],
    });
  });

  it.each([deep(101), deep(200_000), deepValue(101), deepValue(200_000)])(
    'refuses what is nested too deep',
    (value) => {
      expect(convert('array', value)).toEqual({ code: 'function_parameter_too_deep', values: ['x'] });
      expect(convert('string', deepValue(200_000))).toMatchObject({ values: ['x', 'string', '[…]'] });
    },
  );

  it.each([undefined, null, ''])(
    'names a required parameter that is missing, and leaves out an optional one: %j',
    (value) => {
      for (const type of ['string', 'int', 'float', 'dict', 'array'] as const) {
        expect(convert(type, value)).toEqual({ code: 'function_parameter_missing', values: ['x'] });
        expect(convert(type, value, false)).toEqual({});
      }
    },
  );

  it('keeps names that JavaScript gives a meaning as they are', () => {
    const fields = [field('int', { name: '__proto__' }), field('dict', { name: 'constructor' })];
    const values = new Map([
      ['__proto__', '1'],
      ['constructor', '{"__proto__":{"a":1}}'],
    ]);

    const result = convertParameters(fields, values);

    expect(result.kind === 'converted' && JSON.stringify([...result.parameters])).toBe(
      '[["__proto__",1],["constructor",{"__proto__":{"a":1}}]]',
    );
  });

  it('shows no more of a long value than helps, and breaks no character', () => {
    expect(convert('int', '😀'.repeat(100_000))).toMatchObject({ values: ['x', 'int', `${'😀'.repeat(60)}…`] });
    expect(convert('int', 'a'.repeat(60))).toMatchObject({ values: ['x', 'int', 'a'.repeat(60)] });
  });
});
