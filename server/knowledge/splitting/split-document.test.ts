import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { splitDocument } from './split-document.ts';
import { splitForEmbedding } from './split-for-embedding.ts';
import { SplitPatternError } from './split-pattern-error.ts';
import { markdownHeadingPatterns, splitPatterns } from './split-patterns.ts';

const goldenVectors = z
  .object({
    split: z.array(
      z.object({
        name: z.string(),
        input: z.string(),
        patterns: z.union([z.literal('default'), z.array(z.string())]),
        with_filter: z.boolean(),
        limit: z.number(),
        output: z.array(z.object({ title: z.string(), content: z.string() })),
      }),
    ),
    embedding_chunks: z.array(z.object({ input: z.string(), output: z.array(z.string()) })),
  })
  .parse(JSON.parse(readFileSync(new URL('./fixtures/golden-vectors.json', import.meta.url), 'utf8')));

const withoutSpace = (text: string) => text.replace(/\s+/g, '');

describe('splitDocument', () => {
  it.each(goldenVectors.split)('gives the paragraphs of MaxKB v1: $name', (vector) => {
    const patterns = vector.patterns === 'default' ? {} : { patterns: vector.patterns };

    const paragraphs = splitDocument(vector.input, {
      ...patterns,
      limit: vector.limit,
      withFilter: vector.with_filter,
    });

    expect(paragraphs).toEqual(vector.output);
  });

  it('keeps a heading without text that no other title holds', () => {
    expect(splitDocument('# A\n## B\n# C\nx')).toEqual([
      { title: '', content: '# A ## B' },
      { title: ' C', content: '\nx' },
    ]);
  });

  it.each([
    [undefined, 4096],
    [1, 50],
    [1_000_000, 100_000],
  ])('clamps the limit %s to %s', (limit, expected) => {
    const paragraphs = splitDocument('x'.repeat(250_000), limit === undefined ? {} : { limit });

    expect(paragraphs[0]?.content.length).toBe(expected);
  });

  it('never cuts a surrogate pair', () => {
    const paragraphs = splitDocument('x😀😀😀😀'.repeat(100), { limit: 50 });

    expect(paragraphs.some((paragraph) => /\p{Surrogate}/u.test(paragraph.content))).toBe(false);
  });

  it('keeps every character of a text without headings, whatever the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 50, max: 200 }), (text, limit) => {
        const plain = text.replaceAll('#', '');
        const joined = splitDocument(plain, { limit }).map((paragraph) => paragraph.content);
        expect(withoutSpace(joined.join(''))).toBe(withoutSpace(plain.replaceAll('\0', '')));
      }),
    );
  });

  it('refuses a pattern that is no regular expression', () => {
    expect(() => splitDocument('text', { patterns: ['(unclosed'] })).toThrow(SplitPatternError);
  });

  it('stops a pattern that backtracks without end', () => {
    const startedAt = performance.now();

    const split = () => splitDocument(`${'a'.repeat(60)}b`, { patterns: ['(a+)+$'] });

    expect(split).toThrow(expect.objectContaining({ code: 'slow_pattern' }));
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });

  it('stays fast on a document of nothing but headings', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `## Heading ${index + 100_000}\n`).join('');
    const startedAt = performance.now();

    expect(splitDocument(text)).toHaveLength(10_000);
    expect(performance.now() - startedAt).toBeLessThan(4000);
  });
});

describe('splitPatterns', () => {
  it('lists six headings and seven separators, all valid regular expressions', () => {
    expect(splitPatterns.map((pattern) => pattern.key).slice(0, 7)).toEqual([
      '#',
      '##',
      '###',
      '####',
      '#####',
      '######',
      '-',
    ]);
    expect(splitPatterns).toHaveLength(13);
    expect(markdownHeadingPatterns).toHaveLength(6);
    for (const { value } of splitPatterns) expect(() => new RegExp(value)).not.toThrow();
  });
});

describe('splitForEmbedding', () => {
  it.each(goldenVectors.embedding_chunks)('gives the chunks of MaxKB v1: $output', ({ input, output }) => {
    expect(splitForEmbedding(input)).toEqual(output);
  });

  it('loses no character and keeps chunks within 257', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1500 }), (text) => {
        const chunks = splitForEmbedding(text);
        const sorted = (value: string) => [...withoutSpace(value)].sort().join('');
        expect(sorted(chunks.join(''))).toBe(sorted(text));
        expect(chunks.every((chunk) => [...chunk].length <= 257)).toBe(true);
      }),
    );
  });
});
