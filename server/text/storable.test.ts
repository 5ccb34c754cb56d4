import { describe, expect, it } from 'vitest';
import { storableJson, storableText } from './storable.ts';

describe('storable text', () => {
  it('has no U+0000 and no lone surrogate, in values and in keys', () => {
    expect(storableText('a\u0000b\ud800😀')).toBe('ab\ufffd😀');
    expect(JSON.parse(storableJson({ 'k\u0000': ['v\udc00'], plain: { '\ud800': 1 }, when: new Date(0) }))).toEqual({
      k: ['v\ufffd'],
      plain: { '\ufffd': 1 },
      when: '1970-01-01T00:00:00.000Z',
    });
  });
});
