import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPassages } from './cut-passages.ts';
import { splitParagraphs } from './split-paragraphs.ts';

const LIMIT = 1200;
/** A paragraph's column takes 102,400 characters. */
const MAX_PARAGRAPH = 100_000;
const HEAD = '| name | value |\n| --- | --- |\n';

const longest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));

describe('cutPassages on tables and code', () => {
  it('keeps a row whole that is longer than a passage', () => {
    const row = `| ${'长'.repeat(3000)} |`;

    expect(cutPassages(`${HEAD}${row}\n`, LIMIT)).toEqual([`${HEAD}${row}`]);
  });

  it('cuts a row that is longer than any passage may be, at the ends of its sentences', () => {
    const cell = '这是一个完整的句子。'.repeat(15_000);

    const passages = cutPassages(`${HEAD}| a | ${cell} |\n| b | c |\n`, LIMIT);

    expect(longest(passages)).toBeLessThanOrEqual(LIMIT);
    expect(passages.slice(0, -1).every((passage) => passage.startsWith(HEAD) && passage.endsWith('。'))).toBe(true);
    expect(passages.map((passage) => passage.slice(HEAD.length)).join('')).toContain(cell);
    expect(passages.at(-1)).toContain('| b | c |');
  });

  it('does not repeat a head that would fill more than half a passage', () => {
    const head = `| ${'h'.repeat(3000)} | v |\n| --- | --- |\n`;
    const rows = '| a | b |\n'.repeat(2000);

    const passages = cutPassages(head + rows, LIMIT);

    expect(passages.join('\n').length).toBeLessThan((head + rows).length * 1.1);
    expect(passages.filter((passage) => passage.includes('hh')).length).toBeLessThanOrEqual(4);
    expect(passages.join('\n').match(/\| a \| b \|/g)).toHaveLength(2000);
  });

  it('repeats a head that fills less than half a passage', () => {
    const head = `| ${'h'.repeat(500)} | v |\n| --- | --- |\n`;

    const passages = cutPassages(head + '| a | b |\n'.repeat(2000), LIMIT);

    expect(passages.every((passage) => passage.startsWith(head) && passage.length <= LIMIT)).toBe(true);
  });

  it.each([
    ['a head alone', `| ${'h'.repeat(150_000)} |\n| --- |\n`],
    ['a row without a head', `| ${'r'.repeat(150_000)} |\n`],
    ['a row of surrogate pairs', `${HEAD}| ${'😀'.repeat(75_000)} |\n`],
    ['a line of code', `\`\`\`js\n${'c'.repeat(150_000)}\n\`\`\`\n`],
    ['the mark that opens code', `\`\`\`${'j'.repeat(150_000)}\nc\nd\n\`\`\`\n`],
    ['the mark that closes code', `\`\`\`js\nc\nd\n\`\`\`${'j'.repeat(150_000)}\n`],
  ])('cuts what has 150,000 characters and loses none: %s', (_, text) => {
    const passages = cutPassages(text, LIMIT);

    expect(longest(passages)).toBeLessThanOrEqual(LIMIT);
    expect(passages.some((passage) => /\p{Surrogate}/u.test(passage))).toBe(false);
    const letters = (texts: string) => (texts.match(/[hrcj😀]/gu) ?? []).length;
    expect(letters(passages.join(''))).toBeGreaterThanOrEqual(letters(text));
  });

  it.each([
    ['spaces in the second row', `| a |\n${' '.repeat(100_000)}| x |\n`],
    ['spaces behind a rule', `| a |\n| - ${' '.repeat(100_000)}x\n`],
    ['bars in the second row', `| a |\n${'|'.repeat(100_000)}x\n`],
  ])('takes no longer than a table is long: %s', (_, text) => {
    const started = performance.now();

    cutPassages(text, LIMIT);

    expect(performance.now() - started).toBeLessThan(500);
  });

  it.each([
    ['| --- | --- |', true],
    [':-: | -', true],
    ['|-|', true],
    ['  | :--- | ---: |  ', true],
    ['| --- | |', false],
    ['| a | - |', false],
    ['| : |', false],
    ['||', false],
  ])('takes %j below a row for a rule: %j', (line, isRule) => {
    const rows = '| x | y |\n'.repeat(400);
    const bar = line.trim().startsWith('|') ? line : `|${line}`;

    const passages = cutPassages(`| a | b |\n${bar}\n${rows}`, LIMIT);

    expect(passages[1]?.startsWith('| a | b |')).toBe(isRule);
  });
});

it('makes no paragraph that its column cannot hold, whatever the text', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '\n',
      '\n\n',
      '| ',
      ' |',
      '| - |\n',
      '```\n',
      '```',
      '~~~\n',
      '# ',
      '第一条 ',
      '。',
      ' ',
      '😀',
      'x',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  );
  const run = fc.record({ piece, length: fc.constantFrom(1, 1, 1, 2000, 9000, 150_000) });

  fc.assert(
    fc.property(fc.array(run, { maxLength: 20 }), (runs) => {
      const text = runs.map(({ piece, length }) => piece.repeat(Math.ceil(length / piece.length))).join('');

      const paragraphs = splitParagraphs(text);

      expect(longest(paragraphs.map(({ title }) => title))).toBeLessThanOrEqual(255);
      expect(longest(paragraphs.map(({ content }) => content))).toBeLessThanOrEqual(MAX_PARAGRAPH);
    }),
    { numRuns: 50 },
  );
});
