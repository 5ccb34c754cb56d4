import type { JsonValue } from './python-sandbox.ts';

const HIDDEN = '***';
/** A shorter secret would tear holes into ordinary text when it is hidden. */
const MIN_CHARACTERS = 4;
/** A value with more secrets in it is hidden as a whole. */
const MAX_FOUND = 200;

/**
 * What must not show of a secret: its texts and numbers, from four characters on, as they are and as JSON, Python and
 * URLs write them. Longest first, none twice.
 */
export function secretSpellings(secret: JsonValue): string[] {
  const spellings = new Set(leaves(secret).flatMap(spellingsOf));
  return [...spellings].filter((text) => text.length >= MIN_CHARACTERS).sort((a, b) => b.length - a.length);
}

/** The text without the secrets, nor the start of one at its end, where a limit may have cut it. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const cut = secrets.flatMap((secret) => startAtEnd(secret, text));
  return hidePlaces(text, secrets, cut);
}

function hidePlaces(text: string, secrets: readonly string[], more: readonly Span[] = []): string {
  const covered = [...secrets.flatMap((secret) => placesOf(secret, text)), ...more];
  const pieces: string[] = [];
  let at = 0;
  // Secrets may overlap: what any of them covers goes.
  for (const [start, end] of covered.sort(([a], [b]) => a - b)) {
    if (start >= at) pieces.push(text.slice(at, start), HIDDEN);
    at = Math.max(at, end);
  }
  return pieces.join('') + text.slice(at);
}

/** The value without the secrets, in texts, numbers and keys. `value`: at most a hundred levels, as the sandbox gives it. */
export function hideSecretsIn(value: JsonValue, secrets: readonly string[]): JsonValue {
  const all = textsOf(value).join('\0');
  const found = secrets.filter((secret) => all.includes(secret));
  // Thousands of secrets against thousands of texts would hold up everybody else.
  if (found.length > MAX_FOUND) return HIDDEN;
  return found.length === 0 ? value : withoutSecrets(value, found);
}

function withoutSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return hidePlaces(value, secrets);
  if (typeof value === 'number') return secrets.includes(String(value)) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  // Object.fromEntries defines properties, so that `__proto__` stays a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [hidePlaces(key, secrets), withoutSecrets(item, secrets)]),
  );
}

type Span = [start: number, end: number];

function placesOf(secret: string, text: string): Span[] {
  const places: Span[] = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) places.push([at, at + secret.length]);
  return places;
}

function startAtEnd(secret: string, text: string): Span[] {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_CHARACTERS; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return [[text.length - length, text.length]];
  }
  return [];
}

/** Every text, number and key in a value. */
function textsOf(value: JsonValue): string[] {
  if (typeof value !== 'object' || value === null) return leaves(value);
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap(textsOf)];
}

function leaves(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

function spellingsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const escaped = text.replace(/[\\\n\r\t]/g, (one) => PYTHON_ESCAPES[one] ?? one);
  const url = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [
    text,
    json,
    ascii,
    escaped,
    escaped.replaceAll("'", "\\'"),
    url,
    url.replaceAll('%2F', '/'),
    url.replaceAll('%20', '+'),
  ];
}

const PYTHON_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
