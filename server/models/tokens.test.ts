import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipToTokens, countTokens } from './tokens.ts';

describe('countTokens', () => {
  it.each([
    ['', 0],
    ['hello world', 2],
    ['知识库问答', 4],
  ])('R40 counts %j as %d', (text, expected) => {
    expect(countTokens(text)).toBe(expected);
  });

  it.each(['<|endoftext|>', 'a<|endofprompt|>b', '<|im_start|>system', '<|fim_prefix|>'])(
    'R40 takes %s for plain text',
    (text) => {
      expect(countTokens(text)).toBeGreaterThan(2);
    },
  );

  it('R40 takes any string, lone surrogates too', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(countTokens(text)).toBeLessThanOrEqual(text.length * 4);
      }),
    );
    expect(countTokens('\ud800'.repeat(2_500))).toBeGreaterThan(0);
  });

  it('does not cut a surrogate pair between two slices', () => {
    const emoji = '😀'.repeat(500);

    expect(countTokens(`a${emoji}`)).toBeLessThanOrEqual(countTokens(emoji) + 2);
  });

  it.each(['知', 'a', '😀', ' ', '\n', '='])('takes linear time on an unbroken run of %j', (character) => {
    countTokens('warm');
    const startedAt = performance.now();

    countTokens(character.repeat(100_000));

    // Quadratic encoding takes over 6 s here, slices under 0.5 s.
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe('clipToTokens', () => {
  const marker = '……[略]';

  it('returns a text that fits unchanged', () => {
    expect(clipToTokens('知识库', 10, marker)).toBe('知识库');
  });

  it.each(['head', 'tail'] as const)('keeps the %s and stays within the limit, marker included', (keep) => {
    const text = Array.from({ length: 3_000 }, (_, i) => `第${i}句话 number ${i}。`).join('');

    const clipped = clipToTokens(text, 500, marker, keep);

    expect(countTokens(clipped)).toBeLessThanOrEqual(500);
    expect(countTokens(clipped)).toBeGreaterThan(480);
    const kept = clipped.replace(marker, '');
    expect(kept.length).toBe(clipped.length - marker.length);
    expect(keep === 'head' ? text.startsWith(kept) : text.endsWith(kept)).toBe(true);
    expect(keep === 'head' ? clipped.endsWith(marker) : clipped.startsWith(marker)).toBe(true);
  });

  it.each([
    ['surrogate pairs', '😀'],
    ['joined emoji', '👨‍👩‍👧‍👦'],
    ['skin tones', '👍🏽'],
    ['flags', '🇨🇳'],
    ['variation selectors', '葛\u{e0100}'],
    ['combining marks', 'e\u0301\u0323'],
    ['keycaps', '1\ufe0f\u20e3'],
    ['Indic clusters', 'क्षि'],
    ['line ends', '\r\n'],
  ])('R40 never cuts within %s', (_name, character) => {
    const text = character.repeat(60);
    for (let maxTokens = 0; maxTokens < 40; maxTokens += 1) {
      for (const keep of ['head', 'tail'] as const) {
        const clipped = clipToTokens(text, maxTokens, '…', keep);

        expect(countTokens(clipped)).toBeLessThanOrEqual(maxTokens);
        expect(clipped.replace('…', '').replaceAll(character, '')).toBe('');
      }
    }
  });

  it('holds for any text, limit and marker', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(
        text,
        fc.nat({ max: 60 }),
        fc.constantFrom('', '…', marker),
        fc.constantFrom('head', 'tail'),
        (whole, maxTokens, mark, keep) => {
          const clipped = clipToTokens(whole, maxTokens, mark, keep);

          expect(countTokens(clipped)).toBeLessThanOrEqual(maxTokens);
          expect(clipped.isWellFormed()).toBe(whole.isWellFormed());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('leaves out a marker that does not fit', () => {
    expect(clipToTokens('hello world and more', 1, 'a very long marker indeed')).toBe('hello');
    expect(clipToTokens('hello', 0, marker)).toBe('');
  });

  it('cuts an endless cluster at a code point, in bounded time', () => {
    const zalgo = `e${'\u0301'.repeat(50_000)}${'😀\u200d'.repeat(20_000)}`;
    const startedAt = performance.now();

    for (const keep of ['head', 'tail'] as const) {
      const clipped = clipToTokens(zalgo, 1_000, '', keep);
      expect(countTokens(clipped)).toBeLessThanOrEqual(1_000);
      expect(clipped.isWellFormed()).toBe(true);
    }

    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
