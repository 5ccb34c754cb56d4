/**
 * Text as PostgreSQL can hold it: no U+0000, no lone surrogate. Everything that people, documents and models
 * send passes here before it is stored; a single such character would fail the whole statement.
 */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

/** JSON for a jsonb parameter, every string of it storable. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? storableText(part) : part));
}
