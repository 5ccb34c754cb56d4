import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentWords, indexTerms, queryTerms } from './tokens.ts';

const terms = (text: string): string[] => [...indexTerms(text).counts.keys()];

describe('indexTerms', () => {
  it.each([
    ['行政复议', ['行政', '政复', '复议', '议']],
    ['ＡＢＣ１２３', ['abc123']],
    ['GB/T 22239-2019', ['gb/t', '22239-2019', '22239', '2019']],
    ['Qwen3-32B v2.10', ['qwen3-32b', 'qwen3', '32b', 'v2.10', 'v2', '10']],
    ['C++ and .NET and c#', ['c++', '.net', 'c#']],
    ['mail a.b@example.org', ['a.b@example.org', 'exampl']],
    ['running children’s São Paulo', ['run', 'children', 'sao', 'paulo']],
    ['六十日', ['六十', '十日', '60']],
    ['東京タワー', ['東京', '京タ', 'ワー']],
  ])('finds the terms of %s', (text, expected) => {
    expect(terms(text)).toEqual(expect.arrayContaining(expected));
  });

  it.each(['', ' \n', '😀🎉', '?!。，', '\u0000'])('finds nothing in %j', (text) => {
    expect(terms(text)).toEqual([]);
  });

  it('leaves English stop words out', () => {
    expect(terms('what is the law')).toEqual(['law']);
  });

  it('counts how often a term occurs', () => {
    expect(indexTerms('合同 合同').counts.get('合同')).toBe(2);
  });

  it.each([
    ['one letter', 'a'.repeat(1_000_000)],
    ['one Han character', '税'.repeat(1_000_000)],
    ['numerals', '一'.repeat(1_000_000)],
    ['joined letters', 'a-'.repeat(500_000)],
    ['combining marks', `e${'\u0301'.repeat(500_000)}`],
  ])('takes linear time for a megabyte of %s', (_, text) => {
    const startedMs = performance.now();
    indexTerms(text);
    queryTerms(text);
    contentWords(text);

    expect(performance.now() - startedMs).toBeLessThan(8_000);
  });

  it('never throws and never makes a long or empty term', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const term of terms(text)) {
          expect(term.length).toBeGreaterThan(0);
          expect(term.length).toBeLessThanOrEqual(64);
        }
      }),
    );
  });
});

describe('queryTerms', () => {
  it('weighs pairs that touch a stop word less', () => {
    const { weights } = queryTerms('如何申请行政复议');

    expect(weights.get('申请')).toBe(1);
    expect(weights.get('如何')).toBeLessThan(weights.get('何申') ?? 0);
    expect(weights.get('何申')).toBeLessThan(1);
  });

  it('asks for beginnings only when there is a single character', () => {
    expect(queryTerms('税')).toEqual({ weights: new Map(), prefixes: ['税'] });
    expect(queryTerms('税收').prefixes).toEqual([]);
  });

  it('keeps a character between other scripts', () => {
    expect([...queryTerms('B超 检查').weights.keys()]).toEqual(expect.arrayContaining(['b', '超', '检查']));
  });

  it('asks for stop words when there is nothing else', () => {
    expect([...queryTerms('怎么办').weights.keys()]).toEqual(['怎么', '么办']);
    expect([...queryTerms('who are you').weights.keys()]).not.toEqual([]);
  });

  it('looks only for what an index has, for a text against itself', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('合同', '税', 'Qwen3-32B', ' ', '，', '请问', '60日', 'running'), { maxLength: 12 }),
        (parts) => {
          const text = parts.join('');
          const indexed = indexTerms(text).counts;
          for (const term of queryTerms(text).weights.keys()) expect(indexed.has(term) || isStopTerm(term)).toBe(true);
        },
      ),
    );
  });

  it('takes at most 512 terms of an endless query', () => {
    const query = Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(' ');

    expect(queryTerms(query).weights.size).toBeLessThanOrEqual(512);
  });
});

/** Words that only a query without other words asks for. */
function isStopTerm(term: string): boolean {
  return !/\p{Script=Han}|\d/u.test(term);
}

describe('contentWords', () => {
  it('gives words without stop words, codes whole, English stemmed', () => {
    expect(contentWords('请问 Qwen3-32B 如何申请行政复议 running')).toEqual(
      expect.arrayContaining(['qwen3-32b', '申请', '行政复议', 'run']),
    );
    expect(contentWords('请问如何')).toEqual([]);
  });
});
