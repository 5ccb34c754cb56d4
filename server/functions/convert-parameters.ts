import type { InputField, ParameterType } from '../../contract/functions.ts';
import { findJsonFault, hasRoundedInteger, isSoundJson } from './json-value.ts';
import type { JsonValue } from './python-sandbox.ts';

/** Why a parameter was refused; `values` start with the field's name. */
export interface ParameterProblem {
  code:
    | 'function_parameter_missing'
    | 'function_parameter_wrong'
    | 'function_parameter_inexact'
    | 'function_parameter_too_deep'
    | 'function_parameter_unknown';
  values: readonly string[];
}

export type ConvertedParameters =
  | { kind: 'converted'; parameters: Map<string, JsonValue> }
  | { kind: 'refused'; problem: ParameterProblem };

type Converted = { kind: 'value'; value: JsonValue } | { kind: 'refused'; problem: ParameterProblem };

/** Shown of a wrong value; a whole document would bury the field's name. */
const MAX_SHOWN_CHARACTERS = 60;

/**
 * Makes of what a form or a program sent what the function's parameters are (R113). Text is read as the type says, JSON
 * of that type is taken as it is. Empty (absent, null, an empty text) is left out where the field is optional, so that
 * the default of the Python function holds. Names that no field declares are passed over. Stops at the first problem.
 */
export function convertParameters(
  fields: readonly InputField[],
  values: ReadonlyMap<string, unknown>,
): ConvertedParameters {
  const parameters = new Map<string, JsonValue>();
  for (const field of fields) {
    const value = values.get(field.name);
    if (value === undefined || value === null || value === '') {
      if (field.is_required) return refused('function_parameter_missing', field.name);
      continue;
    }
    const converted = convert(field, value);
    if (converted.kind === 'refused') return converted;
    parameters.set(field.name, converted.value);
  }
  return { kind: 'converted', parameters };
}

function convert(field: InputField, value: unknown): Converted {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? { kind: 'value', value } : wrong(field, value);
    case 'int':
      return convertInt(field, value);
    case 'float':
      return convertFloat(field, value);
    case 'dict':
      return convertJson(field, value, isDict);
    case 'array':
      return convertJson(field, value, Array.isArray);
  }
}

function convertInt(field: InputField, value: unknown): Converted {
  const number = readNumber(value, /^[+-]?\d+$/);
  if (number === null || (Number.isFinite(number) && !Number.isInteger(number))) return wrong(field, value);
  return Number.isSafeInteger(number) ? { kind: 'value', value: number } : inexact(field, value);
}

function convertFloat(field: InputField, value: unknown): Converted {
  const number = readNumber(value, /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i);
  if (number === null) return wrong(field, value);
  return Number.isFinite(number) ? { kind: 'value', value: number } : inexact(field, value);
}

/** Full-width digits, as an input method leaves them, are digits; `10⁶` and `①` are not. Null: not a number. */
function readNumber(value: unknown, pattern: RegExp): number | null {
  if (typeof value === 'number') return value;
  const text =
    typeof value === 'string' ? value.replace(/[０-９＋－．ｅＥ]/g, (one) => one.normalize('NFKC')).trim() : '';
  return pattern.test(text) ? Number(text) : null;
}

function convertJson(field: InputField, value: unknown, isOfType: (value: unknown) => boolean): Converted {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (!isOfType(parsed)) return wrong(field, value);
  if (typeof value === 'string' && hasRoundedInteger(value)) return inexact(field, value);
  if (isSoundJson(parsed)) return { kind: 'value', value: parsed };
  return findJsonFault(parsed) === 'too-deep'
    ? refused('function_parameter_too_deep', field.name)
    : inexact(field, value);
}

function isDict(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined: not JSON. What is parsed is looked at by `isSoundJson`. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrong(field: InputField, value: unknown): Converted {
  return refused('function_parameter_wrong', field.name, field.type satisfies ParameterType, show(value));
}

function inexact(field: InputField, value: unknown): Converted {
  return refused('function_parameter_inexact', field.name, field.type, show(value));
}

function refused(code: ParameterProblem['code'], ...values: string[]): { kind: 'refused'; problem: ParameterProblem } {
  return { kind: 'refused', problem: { code, values } };
}

/** A value deep enough to break JSON.stringify is shown by its kind alone. */
function show(value: unknown): string {
  if (typeof value === 'object' && findJsonFault(value) === 'too-deep') return Array.isArray(value) ? '[…]' : '{…}';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const characters = [...text.slice(0, 2 * MAX_SHOWN_CHARACTERS + 1)];
  const isCut = text.length > 2 * MAX_SHOWN_CHARACTERS || characters.length > MAX_SHOWN_CHARACTERS;
  return isCut ? `${characters.slice(0, MAX_SHOWN_CHARACTERS).join('')}…` : text;
}
