/**
 * Text as PostgreSQL can hold it: no U+0000, no lone surrogate. Everything that people, documents and models
 * send passes here before it is stored; a single such character would fail the whole statement.
 */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** JSON for a jsonb parameter, every string of it storable, keys too. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'string') return storableText(part);
    return isObject(part) ? withStorableKeys(part) : part;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withStorableKeys(value: object): object {
  if (Object.keys(value).every((key) => key === storableText(key))) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [storableText(key), part]));
}
