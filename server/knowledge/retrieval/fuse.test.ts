import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, type LegHit } from './fuse.ts';

const leg = (ids: readonly string[], scoreOf = (index: number) => 1 / (index + 1)): LegHit[] =>
  ids.map((id, index) => ({ id, score: scoreOf(index) }));
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const flat = (index: number): number => 0.5 - index * 0.001;

const legs = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 0, max: 150 }), { maxLength: 100 }),
    fc.uniqueArray(fc.integer({ min: 0, max: 150 }), { maxLength: 100 }),
  )
  .map(([keyword, vector]) => ({ keyword: leg(keyword.map(String), flat), vector: leg(vector.map(String), flat) }));

describe('fuse', () => {
  it('has every paragraph of both legs once, scores in 0–1 and falling', () => {
    fc.assert(
      fc.property(legs, fc.double({ min: 0, max: 1, noNaN: true }), (input, keywordCoverage) => {
        const fused = fuse({ ...input, keywordCoverage });
        const ids = fused.map((hit) => hit.id);

        expect(new Set(ids)).toEqual(new Set([...input.keyword, ...input.vector].map((hit) => hit.id)));
        expect(ids).toHaveLength(new Set(ids).size);
        for (const [index, { score }] of fused.entries()) {
          expect(score).toBeLessThanOrEqual(fused[index - 1]?.score ?? 1);
          expect(score).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('keeps the first five of the keywords under a vector leg in which nothing stands out', () => {
    fc.assert(
      fc.property(legs, (input) => {
        fc.pre(input.keyword.length > 0);
        const first = fuse({ ...input, keywordCoverage: 1 })
          .slice(0, 5)
          .map((hit) => hit.id);

        for (const { id } of input.keyword.slice(0, 5)) expect(first).toContain(id);
      }),
    );
  });

  it('keeps one leg as it is when the other is empty', () => {
    const hits = leg(['a', 'b', 'c']);

    expect(fuse({ keyword: hits, vector: [], keywordCoverage: 1 }).map((hit) => hit.id)).toEqual(['a', 'b', 'c']);
    expect(fuse({ keyword: [], vector: hits, keywordCoverage: 0 }).map((hit) => hit.id)).toEqual(['a', 'b', 'c']);
  });

  it('raises within the keywords what both legs found', () => {
    const keyword = leg(names('k', 50));
    const vector = leg(['k30', ...names('v', 99)], flat);
    const fused = fuse({ keyword, vector, keywordCoverage: 1 }).map((hit) => hit.id);

    expect(fused.indexOf('k30')).toBe(5);
  });

  it('lets vectors lead when the keywords are unknown words', () => {
    const fused = fuse({ keyword: leg(names('k', 20)), vector: leg(names('v', 60), flat), keywordCoverage: 0.1 });

    expect(fused.slice(0, 10).map((hit) => hit.id)).toEqual(names('v', 10));
  });

  it('lets a paragraph lead that clearly stands out among the vectors', () => {
    const vector = leg(names('v', 100), (index) => (index === 0 ? 0.99 : 0.5 - index * 0.0005));

    expect(fuse({ keyword: leg(names('k', 50)), vector, keywordCoverage: 1 })[0]?.id).toBe('v0');
  });
});
