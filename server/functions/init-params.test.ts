import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InitField } from '../../contract/functions.ts';
import { packageRoot } from '../observability/package-root.ts';
import { collectArguments } from './collect-arguments.ts';
import { hideSecrets, hideSecretsIn } from './hide-secrets.ts';
import { checkInitParams, maskInitParams, mergeInitParams, secretTexts, withoutSecretDefaults } from './init-params.ts';
import { maskSecret } from './mask-secret.ts';
import type { JsonValue } from './python-sandbox.ts';

const KEY: InitField = { field: 'key', input_type: 'PasswordInput', default_value: 'start-secret' };
const RATE: InitField = { field: 'rate', input_type: 'Slider' };
const SECRET = 'sk-abcdefghijklmnop';
const stored = { params: { key: SECRET, rate: 2 }, fields: [KEY, RATE] };

describe('masking', () => {
  // The file is a recording; only these two keys of it matter here.
  const { secret_mask: vectors } = JSON.parse(
    readFileSync(join(packageRoot(), 'server/knowledge/splitting/fixtures/golden-vectors.json'), 'utf8'),
  ) as { secret_mask: { input: string; output?: string }[] };

  it.each(vectors)('is MaxKB’s for $input', ({ input, output }) => {
    expect(maskSecret(input)).toBe(output ?? '');
  });

  it('hides the values of password fields, of any type', () => {
    expect(maskInitParams({ key: SECRET, rate: 2 }, [KEY, RATE])).toEqual({
      key: 'sk-abcd***************mnop',
      rate: 2,
    });
    expect(maskInitParams({ key: 123456 }, [KEY])).toEqual({ key: '12***************6' });
    expect(maskInitParams(null, [KEY])).toBeNull();
  });

  it('takes what a password field starts with out of what others see', () => {
    expect(withoutSecretDefaults([KEY, RATE])).toEqual([{ ...KEY, default_value: '' }, RATE]);
  });
});

describe('values that come back from the form', () => {
  it('keep a secret that came back masked, and take a new one', () => {
    const masked = maskSecret(SECRET);

    expect(mergeInitParams(stored, { params: { key: masked, rate: 3 }, fields: [KEY, RATE] })).toEqual({
      key: SECRET,
      rate: 3,
    });
    expect(mergeInitParams(stored, { params: { key: 'new' }, fields: [KEY, RATE] })).toEqual({ key: 'new' });
    expect(mergeInitParams(stored, { params: { key: '' }, fields: [KEY] })).toEqual({ key: '' });
  });

  it('drop what no field declares', () => {
    expect(mergeInitParams(stored, { params: { rate: 1, other: 2 }, fields: [RATE] })).toEqual({ rate: 1 });
  });

  it('never put a mask in the place of a secret', () => {
    const masked = maskSecret('an older secret');
    const opened: InitField = { ...KEY, input_type: 'TextInput' };

    expect(() => mergeInitParams(stored, { params: { key: masked }, fields: [KEY] })).toThrow(
      'function_secret_masked key',
    );
    expect(() => checkInitParams({ key: masked }, [KEY])).toThrow('function_secret_masked key');
    expect(mergeInitParams(stored, { params: { key: maskSecret(SECRET) }, fields: [opened] })).toEqual({ key: SECRET });
  });

  it('refuse what JSON cannot carry, and too much', () => {
    const deep: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000));

    expect(() => mergeInitParams(stored, { params: { rate: deep }, fields: [RATE] })).toThrow(
      'function_field_too_deep rate',
    );
    expect(() => checkInitParams({ rate: Number.POSITIVE_INFINITY }, [RATE])).toThrow('function_field_too_deep rate');
    expect(() => mergeInitParams(stored, { params: { rate: 'x'.repeat(102_400) }, fields: [RATE] })).toThrow(
      'function_init_params_too_long',
    );
  });

  it('names the secrets that must not show, longest first, none that every text holds', () => {
    const fields = ['a', 'b', 'c'].map((field) => ({ ...KEY, field }));

    expect(secretTexts({ a: 'abcd', b: 'abcdefgh', c: 'abc', rate: 'open value' }, [...fields, RATE])).toEqual([
      'abcdefgh',
      'abcd',
    ]);
  });

  it.each<[string, JsonValue, string]>([
    ['as it is', 'sk-1234', 'key sk-1234!'],
    ['in Python’s quotes', 'pa\'ss\\wo"rd\nline2', "KeyError: 'pa\\'ss\\\\wo\"rd\\nline2'"],
    ['as JSON', 'a"b\n密码', '{"k": "a\\"b\\n\\u5bc6\\u7801"}'],
    ['in an address', 'a/b c&d', 'https://x/?k=a/b%20c%26d and a%2Fb+c%26d'],
    ['as a number', 12345678, 'pin 12345678'],
    ['inside a dict', { token: ['sk-9876543210'] }, 'Bearer sk-9876543210'],
  ])('hides a secret %s', (_name, secret, text) => {
    const secrets = secretTexts({ a: secret }, [{ ...KEY, field: 'a' }]);

    const shown = hideSecrets(text, secrets);

    expect(shown).toContain('***');
    expect(shown.length).toBeGreaterThan(3);
    for (const spelling of secrets) expect(shown).not.toContain(spelling);
    expect(shown).not.toMatch(/SECRET|wo"rd|5bc6|c%26d/);
  });

  it('hides the start of a secret where a limit cut it, and nowhere else', () => {
    const secrets = secretTexts({ a: 'sk-SECRET-abcdef' }, [{ ...KEY, field: 'a' }]);

    expect(hideSecrets('log sk-SECRET', secrets, true)).toBe('log ***');
    expect(hideSecrets('log sk-SECRET', secrets)).toBe('log sk-SECRET');
    expect(hideSecrets('log sk-', secrets, true)).toBe('log sk-');
    expect(hideSecretsIn({ 'sk-S': 'sk-SECRET' }, secrets)).toEqual({ 'sk-S': 'sk-SECRET' });
    expect(hideSecrets('aaab', ['aaaabb'], true)).toBe('aaab');
    expect(hideSecrets('x abcdabcda', ['abcdabcdx'], true)).toBe('x abcd***');
  });

  it('hides all where looking would take long', () => {
    const periodic = Array.from({ length: 300 }, (_, index) => 'a'.repeat(index + 4));

    expect(hideSecretsIn('a'.repeat(250_000), periodic)).toBe('***');
    expect(hideSecrets(`${'a'.repeat(8000)}c`, [`${'a'.repeat(100_000)}b`], true)).toContain('c');
  });

  it('hides a value that is made of secrets as a whole, in no time', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `key-${index}-xyz`);

    expect(hideSecretsIn({ all: many }, secretTexts({ a: many }, [{ ...KEY, field: 'a' }]))).toBe('***');
  });

  it('hides secrets that overlap, stand side by side, and are values of their own', () => {
    expect(hideSecrets('x abcdefgh y', ['abcdef', 'cdefgh'])).toBe('x *** y');
    expect(hideSecrets('abcdabcd', ['abcd'])).toBe('******');
    expect(hideSecretsIn({ pin: 12345678, abcd: [1, 'abcd'] }, ['12345678', 'abcd'])).toEqual({
      pin: '***',
      '***': [1, '***'],
    });
  });
});

describe('R114 the arguments of a call', () => {
  const sources = {
    inputFields: [{ name: 'n', type: 'int', is_required: false, source: 'custom' } as const],
    initFields: [RATE],
    initParams: { rate: 2, n: 1 },
    unknownNames: 'refuse',
    mayOverrideInit: false,
  } as const;

  it('has the init values where the call gives none, and the call’s where it does', () => {
    expect(collectArguments({ ...sources, values: new Map() })).toMatchObject({ arguments: { rate: 2, n: 1 } });
    expect(collectArguments({ ...sources, values: new Map([['n', '']]) })).toMatchObject({
      arguments: { rate: 2, n: 1 },
    });
    expect(collectArguments({ ...sources, values: new Map([['n', '5']]) })).toMatchObject({
      arguments: { rate: 2, n: 5 },
    });
  });

  it('lets only the owner give an init field another value, and names what nobody declared', () => {
    const values = new Map([['rate', 9]]);
    const unknown = { problem: { code: 'function_parameter_unknown', values: ['rate'] } };

    expect(collectArguments({ ...sources, values, mayOverrideInit: true })).toMatchObject({
      arguments: { rate: 9, n: 1 },
    });
    expect(collectArguments({ ...sources, values })).toMatchObject(unknown);
    expect(collectArguments({ ...sources, values, unknownNames: 'ignore' })).toMatchObject({
      arguments: { rate: 2, n: 1 },
    });
  });

  it('names a required init field that nobody filled in', () => {
    const initFields = [{ ...RATE, required: true }];

    for (const initParams of [null, {}, { rate: null }, { rate: '' }])
      expect(collectArguments({ ...sources, initFields, initParams, values: new Map() })).toMatchObject({
        problem: { code: 'function_parameter_missing', values: ['rate'] },
      });
  });
});
