import type { InitField, InputField } from '../../contract/functions.ts';
import { storableText } from '../text/storable.ts';
import { FunctionError } from './function-error.ts';
import { isSoundJson } from './json-value.ts';
import { SANDBOX_LIMITS } from './python-sandbox.ts';

/** Of the JSON of both lists of fields. */
const MAX_FIELD_BYTES = 128 * 1024;

/** The name as it is stored. Throws FunctionError where nothing readable is left of it. */
export function checkName(name: string): string {
  const cleaned = storableText(name).trim();
  if (cleaned === '') throw new FunctionError('function_name_blank');
  return cleaned;
}

/** The code as it is stored: any that fits (R99); whether it is Python shows when it runs. Throws FunctionError. */
export function checkCode(code: string): string {
  const cleaned = storableText(code);
  if (cleaned.trim() === '') throw new FunctionError('function_code_blank');
  const bytes = Buffer.byteLength(cleaned);
  if (bytes > SANDBOX_LIMITS.codeBytes)
    throw new FunctionError('function_code_too_long', [bytes, SANDBOX_LIMITS.codeBytes]);
  return cleaned;
}

/** Refuses two parameters of one name, and what hangs on a field deeper than JSON can be handled. Throws FunctionError. */
export function checkFields(inputFields: readonly InputField[], initFields: readonly InitField[]): void {
  for (const names of [inputFields.map((field) => field.name), initFields.map((field) => field.field)]) {
    const twice = names.find((name, index) => names.map(storableText).indexOf(storableText(name)) !== index);
    if (twice !== undefined) throw new FunctionError('function_field_twice', [twice]);
  }
  const unsound = inputFields.find((field) => !isSoundJson(field)) ?? initFields.find((field) => !isSoundJson(field));
  if (unsound) throw new FunctionError('function_field_too_deep', [String(unsound['name'] ?? unsound['field'])]);
  // Every list gives them all.
  const bytes = Buffer.byteLength(JSON.stringify([inputFields, initFields]));
  if (bytes > MAX_FIELD_BYTES) throw new FunctionError('function_fields_too_long', [bytes, MAX_FIELD_BYTES]);
}
