import type { InitField } from '../../contract/functions.ts';
import { FunctionError } from './function-error.ts';
import { secretSpellings } from './hide-secrets.ts';
import { isSoundJson } from './json-value.ts';
import { looksMasked, maskSecret } from './mask-secret.ts';
import type { JsonValue } from './python-sandbox.ts';

export type InitParams = Record<string, JsonValue>;

/** Of JSON, in bytes of UTF-8: as many as MaxKB stores characters. */
const MAX_INIT_BYTES = 102_400;

/** The init values as their owner sees them: those of password fields masked. */
export function maskInitParams(params: InitParams | null, fields: readonly InitField[]): InitParams | null {
  if (params === null) return null;
  const secrets = secretFields(fields);
  return fromEntries(entries(params).map(([name, value]) => [name, secrets.has(name) ? mask(value) : value]));
}

/**
 * The init values to store where `sent` came back from a form. What no field declares is dropped; a secret that came
 * back as the mask it was shown as stays what it was. Throws FunctionError for a mask of anything else, since it would
 * take the place of the secret, and for values that JSON cannot carry.
 */
export function mergeInitParams(
  stored: { params: InitParams | null; fields: readonly InitField[] },
  sent: { params: Record<string, unknown>; fields: readonly InitField[] },
): InitParams {
  const declared = new Set(sent.fields.map((field) => field.field));
  const secrets = new Set([...secretFields(stored.fields), ...secretFields(sent.fields)]);
  const old = new Map(entries(stored.params ?? {}));
  const kept = Object.entries(sent.params).flatMap(([name, value]): [string, JsonValue][] => {
    if (!declared.has(name) || value === undefined) return [];
    if (!isSoundJson(value)) throw new FunctionError('function_field_too_deep', [name]);
    return [[name, secrets.has(name) ? unmask(name, value, old.get(name)) : value]];
  });
  const merged = fromEntries(kept);
  const bytes = Buffer.byteLength(JSON.stringify(merged));
  if (bytes > MAX_INIT_BYTES) throw new FunctionError('function_init_params_too_long', [bytes, MAX_INIT_BYTES]);
  return merged;
}

/**
 * The init values of a call that brings its own, declared or not, as MaxKB's debug takes them. Throws FunctionError for
 * a mask in the place of a secret, and for values that JSON cannot carry.
 */
export function checkInitParams(params: Record<string, unknown>, fields: readonly InitField[]): InitParams {
  const secrets = secretFields(fields);
  return fromEntries(
    Object.entries(params).map(([name, value]): [string, JsonValue] => {
      if (!isSoundJson(value)) throw new FunctionError('function_field_too_deep', [name]);
      return [name, secrets.has(name) ? unmask(name, value, undefined) : value];
    }),
  );
}

/** The values that fields still declare. */
export function declaredInitParams(params: InitParams | null, fields: readonly InitField[]): InitParams | null {
  if (params === null) return null;
  const declared = new Set(fields.map((field) => field.field));
  return fromEntries(entries(params).filter(([name]) => declared.has(name)));
}

/** How the secrets may show in what a function prints or gives back to anybody but its owner; longest first. */
export function secretTexts(params: InitParams | null, fields: readonly InitField[]): string[] {
  const secrets = secretFields(fields);
  return secretSpellings(entries(params ?? {}).flatMap(([name, value]) => (secrets.has(name) ? [value] : [])));
}

/** The fields as others see them: what a password field starts with may be a password. */
export function withoutSecretDefaults(fields: readonly InitField[]): InitField[] {
  const secrets = secretFields(fields);
  return fields.map((field) =>
    secrets.has(field.field) && 'default_value' in field ? { ...field, default_value: '' } : field,
  );
}

function secretFields(fields: readonly InitField[]): Set<string> {
  return new Set(fields.filter((field) => field.input_type === 'PasswordInput').map((field) => field.field));
}

function mask(value: JsonValue): JsonValue {
  return value === null ? null : maskSecret(typeof value === 'string' ? value : JSON.stringify(value));
}

function unmask(name: string, value: JsonValue, old: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string' || value === old) return value;
  if (old !== undefined && value !== '' && value === mask(old)) return old;
  if (looksMasked(value)) throw new FunctionError('function_secret_masked', [name]);
  return value;
}

function entries(params: InitParams): [string, JsonValue][] {
  return Object.entries(params);
}

/** Object.fromEntries defines properties, so that `__proto__` stays a name like any other. */
function fromEntries(params: readonly (readonly [string, JsonValue])[]): InitParams {
  return Object.fromEntries(params);
}
