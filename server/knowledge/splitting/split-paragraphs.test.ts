import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitParagraphs } from './split-paragraphs.ts';

const law = readFileSync(new URL('./fixtures/administrative-reconsideration-law-2023.md', import.meta.url), 'utf8');
const withoutSpace = (text: string) => text.replace(/[\s\u200b]+/g, '');
const contentsOf = (text: string) => splitParagraphs(text).map((paragraph) => paragraph.content);
const titlesOf = (text: string) => splitParagraphs(text).map((paragraph) => paragraph.title);

describe('splitParagraphs on a statute', () => {
  it('makes every article one paragraph that is titled with its ancestors', () => {
    const articles = law.match(/^第[一二三四五六七八九十百]+条/gm) ?? [];

    const titles = titlesOf(law).filter((title) => title.endsWith('条'));

    expect(titles.map((title) => title.split(' ').at(-1))).toEqual(articles);
    expect(titles).toHaveLength(90);
    expect(titles[19]).toBe('中华人民共和国行政复议法 第二章 行政复议申请 第三节 申请的提出 第二十条');
  });

  it('keeps all paragraphs of an article', () => {
    const article = splitParagraphs(law).find((paragraph) => paragraph.title.endsWith(' 第二十条'));

    expect(article?.content).toMatch(/^公民、法人或者其他组织认为/);
    expect(article?.content).toContain('因不可抗力或者其他正当理由耽误法定申请期限的');
    expect(article?.content).toMatch(/最长不得超过一年。$/);
  });

  it('loses no text', () => {
    const body = law.replace(/^#.*$/gm, '').replace(/^第[一二三四五六七八九十百]+条/gm, '');

    expect(withoutSpace(contentsOf(law).join(''))).toBe(withoutSpace(body));
  });

  it('finds books, chapters, sections and inserted articles that are no markdown headings', () => {
    const text = [
      '某某法',
      '第一编　总则',
      '第一章 一般规定',
      '第一条　为了甲，制定本法。',
      '第一条之一 乙。',
      '前款所称乙，是指丙。',
      '第二章 适用',
      '第一节 范围',
      '第二条本法适用于丁。',
      '第三条规定的事项除外。',
      '**第3条** 戊。',
      '附则',
      '第４条：己。',
    ].join('\n');

    expect(splitParagraphs(text)).toEqual([
      { title: '', content: '某某法' },
      { title: '第一编 总则 第一章 一般规定 第一条', content: '为了甲，制定本法。' },
      { title: '第一编 总则 第一章 一般规定 第一条之一', content: '乙。\n前款所称乙，是指丙。' },
      { title: '第一编 总则 第二章 适用 第一节 范围 第二条', content: '本法适用于丁。\n第三条规定的事项除外。' },
      { title: '第一编 总则 第二章 适用 第一节 范围 第3条', content: '戊。' },
      { title: '第一编 总则 附则 第４条', content: '：己。' },
    ]);
  });

  it.each([
    ['plain', '目录\n第一章 总则\n第一条 目的\n第二章 附则\n第二条 施行\n\n'],
    ['with page numbers', '第一章 总则......1\n第一条 目的......1\n第二章 附则\t2\n第二条 施行  3\n\n'],
  ])('takes no heading from a table of contents: %s', (_, contents) => {
    const body = '第一章 总则\n第一条 甲。\n第二章 附则\n第二条 乙。\n第三条 丙。';

    expect(titlesOf(contents + body)).toEqual(['', '第一章 总则 第一条', '第二章 附则 第二条', '第二章 附则 第三条']);
  });

  it('puts a name with the level of the chapters above them', () => {
    const text = '# 某条例\n# 第一章 总则\n第一条 甲。\n# 第二章 附则\n第二条 乙。\n第三条 丙。';

    expect(titlesOf(text)).toEqual([
      '某条例 第一章 总则 第一条',
      '某条例 第二章 附则 第二条',
      '某条例 第二章 附则 第三条',
    ]);
  });

  it('does not take a text that quotes a few articles for a statute', () => {
    const text = `${'普通的一段话。\n'.repeat(60)}第一条 甲。\n第二条 乙。\n第三条 丙。`;

    expect(titlesOf(text)).toEqual(['']);
  });
});

describe('splitParagraphs on other texts', () => {
  it('titles sections with single spaces and without marks', () => {
    const text = '# **Guide**\nintro\n## Set  up [here](http://x.y) ##\nsteps\nUnder\n===\nlast';

    expect(splitParagraphs(text)).toEqual([
      { title: 'Guide', content: 'intro' },
      { title: 'Guide Set up here', content: 'steps\nUnder\n===\nlast' },
    ]);
  });

  it('keeps a heading that has nothing below it', () => {
    expect(splitParagraphs('# A\n## B\n## C\nx')).toEqual([
      { title: 'A', content: 'B' },
      { title: 'A C', content: 'x' },
    ]);
  });

  it('does not take comments in fenced code for headings', () => {
    const text = '# A\n```sh\n# comment\nrun\n```\nafter';

    expect(splitParagraphs(text)).toEqual([{ title: 'A', content: '```sh\n# comment\nrun\n```\nafter' }]);
  });

  it('cuts long text at sentence ends, within 1200 characters', () => {
    const text = `${'这是一个完整的句子，它有一个逗号。'.repeat(300)}`;

    const contents = contentsOf(text);

    expect(contents.length).toBeGreaterThan(3);
    expect(contents.every((content) => content.length <= 1200 && content.endsWith('。'))).toBe(true);
    expect(contents.join('')).toBe(text);
  });

  it('repeats the header of a table that it cuts, and cuts only between rows', () => {
    const head = '| name | value |\n| --- | --- |\n';
    const rows = Array.from({ length: 100 }, (_, index) => `| row ${index} | ${'x'.repeat(40)} |`);

    const contents = contentsOf(`# T\n${head}${rows.join('\n')}\n`);

    expect(contents.length).toBeGreaterThan(3);
    expect(contents.every((content) => content.startsWith(head))).toBe(true);
    expect(contents.flatMap((content) => content.slice(head.length).split('\n'))).toEqual(rows);
  });

  it('keeps a table row whole that is longer than a passage', () => {
    const row = `| ${'长'.repeat(3000)} |`;

    expect(contentsOf(`| h |\n| - |\n${row}\n`)).toEqual([`| h |\n| - |\n${row}`]);
  });

  it('repeats the fences of code that it cuts', () => {
    const code = Array.from({ length: 120 }, (_, index) => `statement number ${index};`);

    const contents = contentsOf(`\`\`\`js\n${code.join('\n')}\n\`\`\``);

    expect(contents.length).toBeGreaterThan(1);
    expect(contents.every((content) => content.startsWith('```js\n') && content.endsWith('\n```'))).toBe(true);
    expect(contents.flatMap((content) => content.split('\n').slice(1, -1))).toEqual(code);
  });

  it('shortens titles to 255 by moving the outer headings into the content', () => {
    const text = `# ${'a'.repeat(200)}\n## ${'b'.repeat(200)}\nbody\n# ${'c'.repeat(300)}\nend`;

    const paragraphs = splitParagraphs(text);

    expect(paragraphs.every((paragraph) => paragraph.title.length <= 255)).toBe(true);
    expect(paragraphs).toEqual([
      { title: 'b'.repeat(200), content: `${'a'.repeat(200)}\n\nbody` },
      { title: 'c'.repeat(255), content: `${'c'.repeat(45)}\n\nend` },
    ]);
  });

  it.each(['', ' \n\n', '\u200b\n', '\0'])('gives nothing for a blank text %j', (text) => {
    expect(splitParagraphs(text)).toEqual([]);
  });

  it('keeps every character of a text without headings and never tears a surrogate pair', () => {
    const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('😀'.repeat(700), '句子。', '\n', 'word '));
    const texts = fc.array(word, { maxLength: 60 }).map((words) => words.join('').replace(/[#=|`~\r\0-]/g, ''));
    fc.assert(
      fc.property(texts, (text) => {
        const contents = contentsOf(text);
        expect(withoutSpace(contents.join(''))).toBe(withoutSpace(text));
        expect(contents.every((content) => content.length <= 1200)).toBe(true);
        expect(contents.some((content) => /\p{Surrogate}/u.test(content))).toBe(false);
      }),
    );
  });

  it.each([
    ['spaces', `# a${' '.repeat(200_000)}b`],
    ['newlines', `a${'\n'.repeat(50_000)}b`],
    ['headings', Array.from({ length: 10_000 }, (_, index) => `## h${index}\n第${index}条 x\n`).join('')],
    ['one line', '第一章'.repeat(100_000)],
    ['table rows', '| a | b |\n'.repeat(20_000)],
    ['open fences', '```\n~~~\n'.repeat(8_000)],
  ])('stays fast on a hostile text: %s', (_, text) => {
    const startedAt = performance.now();

    splitParagraphs(text);

    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});
