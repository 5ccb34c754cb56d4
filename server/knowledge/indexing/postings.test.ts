import { expect, it } from 'vitest';
import { buildSegment, LENGTH_BITS, postingCode } from './postings.ts';

it('packs times and length into a smallint', () => {
  for (const [times, length] of [
    [1, 0],
    [15, 8_188],
    [400, 1_000_000],
  ] as const) {
    expect(postingCode(times, length)).toBeLessThanOrEqual(32_767);
  }
  expect(postingCode(3, 120) >> LENGTH_BITS).toBe(3);
});

it('lists each term with its paragraphs in the order of their numbers', () => {
  const segment = buildSegment('x.md', [
    { id: 'b', number: 9, title: '', content: '合同' },
    { id: 'a', number: 4, title: '', content: '合同 租赁' },
  ]);

  expect(segment).toMatchObject({ paragraphs: 2, minNumber: 4, maxNumber: 9 });
  expect(segment.lists.find((list) => list.term === '合同')?.numbers).toEqual([4, 9]);
});

it('counts a short title twice', () => {
  const segment = buildSegment('x.md', [{ id: 'a', number: 1, title: 'Paris', content: 'Paris' }]);

  expect((segment.lists.find((list) => list.term === 'pari')?.codes[0] ?? 0) >> LENGTH_BITS).toBe(3);
});
