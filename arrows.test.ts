import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * The arrows of ARCHITECTURE.md as a test: which folder may import which. A file outside every rule, or an
 * import that no rule names, fails here.
 */

const ROOT = import.meta.dirname;

/** Folders that each folder may import, besides itself. Longest match wins. */
const ARROWS: Record<string, readonly string[]> = {
  contract: [],
  'server/text': [],
  'server/observability': [],
  'server/config.ts': ['server/setting-reader.ts'],
  'server/setting-reader.ts': [],
  'server/data-folder.ts': [],
  'server/database': ['server/observability'],
  'server/models': ['server/database', 'server/observability', 'server/config.ts', 'server/text'],
  'server/accounts': ['contract', 'server/database', 'server/observability', 'server/text'],
  'server/applications': [
    'contract',
    'server/accounts',
    'server/models',
    'server/database',
    'server/observability',
    'server/text',
  ],
  'server/knowledge': [
    'contract',
    'server/accounts',
    'server/models',
    'server/database',
    'server/observability',
    'server/text',
  ],
  'server/chat': [
    'contract',
    'server/knowledge',
    'server/models',
    'server/applications',
    'server/accounts',
    'server/database',
    'server/observability',
    'server/text',
  ],
  'server/functions': [
    'contract',
    'server/accounts',
    'server/database',
    'server/observability',
    'server/config.ts',
    'server/text',
  ],
  'server/http': [
    'contract',
    'server/chat',
    'server/functions',
    'server/knowledge',
    'server/applications',
    'server/accounts',
    'server/observability',
    'server/text',
  ],
  'server/cli': ['contract', 'server'],
  'server/cli.ts': ['server/cli'],
  'server/main.ts': ['contract', 'server'],
  'server/testing': ['contract', 'server'],
  bench: ['contract', 'server'],
  evals: ['contract', 'server', 'bench'],
};

/** Rooms that speak HTTP may use the http folder's envelope, frames and messages; no other part of a feature may. */
const HTTP_ROOMS =
  /^server\/(?:applications|chat|functions|knowledge)\/(?:(?:[a-z]+-)?routes|chat-of-path|present-[a-z-]+)\.ts$/;

/** Vendor libraries that only the folder that wraps them may import. */
const WRAPPED: Record<string, readonly string[]> = {
  openai: ['server/models'],
  'gpt-tokenizer': ['server/models'],
  pg: ['server/database', 'server/testing'],
  '@electric-sql/pglite': ['server/database'],
  '@electric-sql/pglite-socket': ['server/database'],
  '@electric-sql/pglite-pgvector': ['server/database'],
  '@node-rs/jieba': ['server/knowledge/indexing'],
  'pdfjs-dist': ['server/knowledge/parsing'],
  mammoth: ['server/knowledge/parsing'],
  linkedom: ['server/knowledge/parsing'],
};

/** Rooms inside a feature where only some files may do what the test names. */
const SQL_PLACES =
  /-store\.ts$|^server\/knowledge\/retrieval\/|^server\/database\/|^server\/testing\/|^bench\/|\.test\.ts$/;
const STATUS_PLACES =
  /routes\.ts$|^server\/http\/|^server\/testing\/|^server\/models\/|^server\/cli\/|^bench\/|\.test\.ts$/;

const files = ['contract', 'server', 'bench'].flatMap((folder) => sources(join(ROOT, folder)));

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

function ruleOf(file: string): string | undefined {
  return Object.keys(ARROWS)
    .filter((folder) => isIn(file, folder))
    .sort((a, b) => b.length - a.length)[0];
}

function isIn(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

describe('arrows', () => {
  it('lets every file import only what its folder may', () => {
    const broken = files
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => {
        const rule = ruleOf(file);
        if (rule === undefined) return [`${file} belongs to no folder of the arrows`];
        return importsOf(file)
          .filter((target) => target.startsWith('.'))
          .map((target) => relative(ROOT, resolve(join(ROOT, dirname(file)), target)))
          .filter((target) => !isIn(target, rule) && !(ARROWS[rule] ?? []).some((allowed) => isIn(target, allowed)))
          .filter((target) => !(HTTP_ROOMS.test(file) && isIn(target, 'server/http')))
          .map((target) => `${file} → ${target}`);
      });

    expect(broken).toEqual([]);
  });

  it('keeps main.ts to the commands', () => {
    const importers = files.filter((file) =>
      importsOf(file).some(
        (target) => target.startsWith('.') && resolve(ROOT, dirname(file), target) === join(ROOT, 'server/main.ts'),
      ),
    );

    expect(importers.filter((file) => !/^server\/cli\/|^bench\/|^server\/testing\/|\.test\.ts$/.test(file))).toEqual(
      [],
    );
  });

  it('keeps vendor libraries in the folder that wraps them', () => {
    const broken = files.flatMap((file) =>
      importsOf(file).flatMap((target) => {
        const vendor = Object.keys(WRAPPED).find((name) => target === name || target.startsWith(`${name}/`));
        if (vendor === undefined) return [];
        return (WRAPPED[vendor] ?? []).some((folder) => isIn(file, folder)) ? [] : [`${file} → ${target}`];
      }),
    );

    expect(broken).toEqual([]);
  });

  it('R24 builds no HTTP transport outside the model client and the command line', () => {
    const broken = files
      .filter((file) => !/^server\/(models|cli|testing)\/|^bench\/|\.test\.ts$/.test(file))
      .filter((file) => /\bfetch\(|from '(?:axios|undici|got)'/.test(readFileSync(join(ROOT, file), 'utf8')));

    expect(broken).toEqual([]);
  });

  it('keeps SQL in the stores, retrieval and the database folder', () => {
    const broken = files
      .filter((file) => !SQL_PLACES.test(file))
      .filter(
        (file) =>
          /[`'"]\s*(?:select|insert into|update|delete from|with)\s+[\s\S]{0,200}?\b(?:from|values|set|as)\b/.test(
            readFileSync(join(ROOT, file), 'utf8'),
          ) && /\.query[<(]/.test(readFileSync(join(ROOT, file), 'utf8')),
      );

    expect(broken).toEqual([]);
  });

  it('keeps HTTP status codes in the routes and the http folder', () => {
    const broken = files
      .filter((file) => !STATUS_PLACES.test(file))
      .filter((file) =>
        /\.code\(\d{3}\)|\bstatusCode\b|\.status\(\d{3}\)/.test(readFileSync(join(ROOT, file), 'utf8')),
      );

    expect(broken).toEqual([]);
  });
});
