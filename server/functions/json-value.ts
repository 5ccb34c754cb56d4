import type { JsonValue } from './python-sandbox.ts';

/** Levels of lists and objects that a parameter may have; as many as a function's value. */
const MAX_DEPTH = 100;

/** JSON writes whole numbers up to here in digits, and Python reads those as int; above it is a float on both sides. */
const FIRST_EXPONENT = 1e21;

/** Why a parsed JSON value cannot be handed on as it was meant. */
export type JsonFault = 'too-deep' | 'inexact-number';

/**
 * Looks for what travels wrongly: more than a hundred levels, numbers too large for a double (`1e400`), and whole numbers
 * beyond ±(2^53 − 1), which lost digits when they were parsed. `value` comes from JSON. Never throws, however deep it is.
 */
export function findJsonFault(value: unknown): JsonFault | null {
  const rest: [unknown, number][] = [[value, 1]];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const [part, depth] = next;
    if (typeof part === 'number' && !isExact(part)) return 'inexact-number';
    if (typeof part !== 'object' || part === null) continue;
    if (depth > MAX_DEPTH) return 'too-deep';
    for (const item of Object.values(part)) rest.push([item, depth + 1]);
  }
  return null;
}

/** Whether JSON text holds a whole number that JavaScript would round; Python, which it is meant for, would not. */
export function hasRoundedInteger(json: string): boolean {
  const numbers = json.replace(/"(?:[^"\\]+|\\.)*"/g, '""').matchAll(/(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g);
  return [...numbers].some(([digits]) => !Number.isSafeInteger(Number(digits)));
}

/** True for every value that came from JSON and has no fault; its parts were looked at by `findJsonFault`. */
export function isSoundJson(value: unknown): value is JsonValue {
  return value !== undefined && findJsonFault(value) === null;
}

function isExact(number: number): boolean {
  if (!Number.isFinite(number)) return false;
  return !Number.isInteger(number) || Number.isSafeInteger(number) || Math.abs(number) >= FIRST_EXPONENT;
}
