import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a value came from, so that a message can name it. */
export interface Setting {
  value: string;
  source: string;
}

/** Whatever can be set. */
export const KEYS = [
  'kb.data.dir',
  'kb.docs.dir',
  'kb.database.url',
  'kb.http.host',
  'kb.http.port',
  'kb.agent.max_rounds',
  'kb.agent.evidence_tokens',
  'kb.context.recent_tokens',
  'kb.chat.base_url',
  'kb.chat.api_key',
  'kb.chat.model',
  'kb.chat.context_tokens',
  'kb.chat.max_tokens',
  'kb.chat.agent_status',
  'kb.aux.model',
  'kb.embedding.base_url',
  'kb.embedding.api_key',
  'kb.embedding.model',
  'kb.embedding.dimensions',
  'kb.python.docker',
  'kb.python.docker_host',
  'kb.python.wsl.distribution',
  'kb.python.image',
  'kb.python.network',
  'kb.python.runtime',
  'kb.python.timeout_seconds',
  'kb.python.memory_mib',
  'kb.python.cpus',
  'kb.python.pids',
  'kb.python.concurrency',
  'kb.python.prewarm',
] as const;
export type Key = (typeof KEYS)[number];

/** The settings of a file that could be read, and what is wrong with the rest of it. */
export interface FileSettings {
  settings: Map<string, Setting>;
  problems: string[];
}

/** Reads `my.txt` in `folder`; one that is missing holds nothing. Never throws. */
export function readMyTxt(folder: string): FileSettings {
  let text: string;
  try {
    text = readFileSync(join(folder, 'my.txt'), 'utf8');
  } catch (error) {
    const settings = new Map<string, Setting>();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { settings, problems: [] };
    return { settings, problems: [`my.txt cannot be read: ${(error as Error).message}`] };
  }
  return parseMyTxt(text);
}

function parseMyTxt(text: string): FileSettings {
  const settings = new Map<string, Setting>();
  const problems: string[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (/^\s*([#!]|$)/.test(line)) continue;
    const match = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) {
      problems.push(`my.txt line ${index + 1}: expected key=value.`);
      continue;
    }
    const source = `my.txt line ${index + 1}`;
    if (settings.has(match[1])) problems.push(`${source}: ${match[1]} is set twice.`);
    settings.set(match[1], { value: match[2], source });
  }
  return { settings, problems };
}

/** Takes settings out by kind and collects what is wrong instead of throwing at the first. */
export class SettingReader {
  readonly problems: string[] = [];
  readonly notices: string[] = [];
  readonly #settings = new Map<Key, Setting>();

  constructor(file: ReadonlyMap<string, Setting>, environment: NodeJS.ProcessEnv) {
    for (const [key, setting] of file) {
      if (isKey(key)) this.#settings.set(key, setting);
      else this.notices.push(`${setting.source}: nobody reads ${key}.`);
    }
    for (const key of KEYS) {
      const name = key.toUpperCase().replaceAll('.', '_');
      const value = environment[name];
      if (value !== undefined) this.#settings.set(key, { value: value.trim(), source: name });
    }
    const url = environment['DATABASE_URL'];
    if (url !== undefined) this.#settings.set('kb.database.url', { value: url.trim(), source: 'DATABASE_URL' });
    // A variable of every Docker user's shell: it never overrules what was set for this program alone.
    const host = environment['DOCKER_HOST']?.trim();
    const isSet = this.text('kb.python.docker_host') !== null || this.text('kb.python.wsl.distribution') !== null;
    if (host && !isSet) this.#settings.set('kb.python.docker_host', { value: host, source: 'DOCKER_HOST' });
  }

  /** Null where it is absent or empty. */
  text(key: Key): string | null {
    return this.#settings.get(key)?.value || null;
  }

  integer(key: Key, range: { fallback: number; min: number; max: number }): number {
    return this.optionalInteger(key, range) ?? range.fallback;
  }

  optionalInteger(key: Key, { min, max }: { min: number; max: number }): number | null {
    const number = this.#wholeNumber(key);
    if (number === null) return null;
    if (number >= min && number <= max) return number;
    this.#problem(key, `must be from ${min} to ${max}; found ${number}`);
    return null;
  }

  /** A value beyond the range is brought to its edge, with a notice (R35–R37). */
  clamped(key: Key, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
    const number = this.#wholeNumber(key) ?? fallback;
    const clamped = Math.min(max, Math.max(min, number));
    if (clamped !== number) this.notices.push(`${key}=${number} is outside ${min}–${max}; ${clamped} is used.`);
    return clamped;
  }

  onOff(key: Key, fallback: boolean): boolean {
    const text = this.text(key);
    if (text === null) return fallback;
    if (text === 'on' || text === 'off') return text === 'on';
    this.#problem(key, `must be on or off; found ${JSON.stringify(text)}`);
    return fallback;
  }

  /** The problem names the setting but not its value, which may hold a password. */
  url(key: Key, protocols: readonly string[]): string | null {
    const text = this.text(key);
    if (text === null) return null;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    this.#problem(key, `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    return null;
  }

  /** A URL; one from `DOCKER_HOST` may have any form that the CLI reads, and is no reason not to start. */
  engineAddress(key: Key): string | null {
    if (this.#settings.get(key)?.source === 'DOCKER_HOST') return this.text(key);
    return this.url(key, ['unix:', 'npipe:', 'tcp:', 'ssh:']);
  }

  name(key: Key, form: RegExp): string | null {
    const text = this.text(key);
    if (text === null || form.test(text)) return text;
    this.#problem(key, `must be a plain name; found ${JSON.stringify(text)}`);
    return null;
  }

  #wholeNumber(key: Key): number | null {
    const text = this.text(key);
    if (text === null) return null;
    if (/^-?\d{1,9}$/.test(text)) return Number(text);
    this.#problem(key, `must be a whole number; found ${JSON.stringify(text)}`);
    return null;
  }

  #problem(key: Key, message: string): void {
    this.problems.push(`${this.#settings.get(key)?.source ?? key}: ${key} ${message}.`);
  }
}

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}
