import { percentEncode } from '../text/percent-encode.ts';
import type { JsonValue } from './python-sandbox.ts';

const HIDDEN = '***';
/** A shorter secret would tear holes into ordinary text when it is hidden. */
const MIN_CHARACTERS = 4;
/** Where there is more to look for, or more is found, all of it is hidden: the search holds up everybody else. */
const MAX_SECRETS = 400;
const MAX_SEARCHES = 5_000_000;
const MAX_HITS = 100_000;

/**
 * What must not show of a secret: its texts and numbers, from four characters on, as they are and as JSON, Python and
 * URLs write them. Longest first, none twice.
 */
export function secretSpellings(secret: JsonValue): string[] {
  const spellings = new Set(leaves(secret).flatMap(spellingsOf));
  return [...spellings].filter((text) => text.length >= MIN_CHARACTERS).sort((a, b) => b.length - a.length);
}

/** The text without the secrets. `isCut`: a limit may have cut one at its end, so that its start goes as well. */
export function hideSecrets(text: string, secrets: readonly string[], isCut = false): string {
  if (secrets.length > MAX_SECRETS) return HIDDEN;
  const covered = new Coverage();
  for (const secret of secrets) {
    covered.add(text, secret);
    if (isCut) covered.addEnd(text, startAtEnd(secret, text));
    if (covered.isFull) return HIDDEN;
  }
  return covered.hide(text);
}

/** The value without the secrets, in texts, numbers and keys. `value`: at most a hundred levels, as the sandbox gives it. */
export function hideSecretsIn(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (secrets.length === 0) return value;
  if (secrets.length > MAX_SECRETS) return HIDDEN;
  const texts = textsOf(value);
  const all = texts.join('\0');
  const found = secrets.filter((secret) => all.includes(secret));
  if (found.length === 0) return value;
  return found.length * texts.length > MAX_SEARCHES ? HIDDEN : withoutSecrets(value, found);
}

function withoutSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (typeof value === 'number') return secrets.includes(String(value)) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  // Object.fromEntries defines properties, so that `__proto__` stays a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [hideSecrets(key, secrets), withoutSecrets(item, secrets)]),
  );
}

/** What is covered of one text; secrets may overlap. */
class Coverage {
  readonly #spans: [start: number, end: number][] = [];
  #hits = 0;

  get isFull(): boolean {
    return this.#hits > MAX_HITS;
  }

  add(text: string, secret: string): void {
    let last: [number, number] | undefined;
    for (let at = text.indexOf(secret); at >= 0 && !this.isFull; at = text.indexOf(secret, at + 1)) {
      this.#hits += 1;
      if (last && at < last[1]) last[1] = at + secret.length;
      else {
        last = [at, at + secret.length];
        this.#spans.push(last);
      }
    }
  }

  addEnd(text: string, length: number): void {
    if (length >= MIN_CHARACTERS) this.#spans.push([text.length - length, text.length]);
  }

  hide(text: string): string {
    const pieces: string[] = [];
    let at = 0;
    for (const [start, end] of this.#spans.sort(([a], [b]) => a - b)) {
      if (start >= at) pieces.push(text.slice(at, start), HIDDEN);
      at = Math.max(at, end);
    }
    return pieces.join('') + text.slice(at);
  }
}

/** How many characters at the end of a text are the start of a secret; by Knuth, Morris and Pratt, so in linear time. */
function startAtEnd(secret: string, text: string): number {
  const pattern = secret.slice(0, Math.min(secret.length - 1, text.length));
  const borders = new Int32Array(pattern.length);
  const next = (matched: number, character: string | undefined) => {
    let length = matched;
    while (length > 0 && (length === pattern.length || pattern[length] !== character))
      length = borders[length - 1] ?? 0;
    return pattern[length] === character ? length + 1 : length;
  };
  for (let at = 1; at < pattern.length; at += 1) borders[at] = next(borders[at - 1] ?? 0, pattern[at]);
  let matched = 0;
  for (const character of text.slice(text.length - pattern.length).split('')) matched = next(matched, character);
  return matched;
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
  const url = percentEncode(text);
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
