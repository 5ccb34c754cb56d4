import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseDocument } from './parse-document.ts';

const read = async (html: string, name = 'page.html') => parseDocument({ name, bytes: Buffer.from(html) });
const readSample = async (name: string) =>
  parseDocument({ name, bytes: readFileSync(new URL(`./samples/${name}`, import.meta.url)) });

describe('parseHtml', () => {
  it('R3: writes headings, lists, code and links; drops scripts, navigation and comments', async () => {
    const { text, strategy } = await read(`<!DOCTYPE html><html><head><title>T</title><style>p{}</style></head><body>
      <nav>Home</nav><!-- secret --><script>alert(1)</script>
      <h1>Guide</h1><p>See <a href="https://a.b/c">here</a> and <a href="#x">below</a>, snake_case_name.</p>
      <ul><li>one<ul><li>deep</li></ul></li><li>two</li></ul><ol start="3"><li>three</li></ol>
      <pre><code class="language-js">let a = 1;\n# no heading</code></pre></body></html>`);

    expect(strategy).toBe('html');
    expect(text).toContain('# Guide\n\nSee [here](https://a.b/c) and below, snake_case_name.');
    expect(text).toContain('- one\n  - deep\n- two');
    expect(text).toContain('3. three');
    expect(text).toContain('```js\nlet a = 1;\n# no heading\n```');
    expect(text).not.toMatch(/Home|secret|alert/);
  });

  it('uses the title as heading when there is none', async () => {
    expect((await read('<title>部门 手册</title><p>内容</p>')).text).toBe('# 部门 手册\n\n内容');
  });

  it('fills merged cells and keeps line breaks and pipes inside cells', async () => {
    const { text } = await read(`<table><tr><td rowspan="2">部门<td>甲|乙<td>line<br>two</tr>
      <tr><td colspan="2">丙</td></tr></table>`);

    expect(text).toBe('| 部门 | 甲\\|乙 | line<br>two |\n| --- | --- | --- |\n| 部门 | 丙 | 丙 |');
  });

  it('keeps the outer table whole around an inner one', async () => {
    const { text } = await read(`<table><tr><th>a</th><th>b</th></tr>
      <tr><td>1</td><td><table><tr><td>x</td><td>y</td></tr><tr><td>z</td></tr></table></td></tr></table>`);

    expect(text).toBe('| a | b |\n| --- | --- |\n| 1 | x y<br>z |');
  });

  it('unwraps tables that only arrange the page, and keeps text between rows', async () => {
    const { text } = await read(
      '<table><tr><td><h2>H</h2><p>p</p></td></tr></table><table>stray<tr><td>a<td>b</table>',
    );

    expect(text).toContain('## H\n\np');
    expect(text).toContain('stray');
  });

  it('drops the navigation of a page only if the article keeps its text and tables', async () => {
    const links = Array.from({ length: 40 }, (_, i) => `<li><a href="/${i}">Menu entry ${i}</a></li>`).join('');
    const prose = `<p>${'A long paragraph, with commas, that says something. '.repeat(20)}</p>`.repeat(3);
    const table = '<table><tr><th>k</th></tr><tr><td>v</td></tr></table>';
    const article = await read(
      `<html><body><div class="menu"><ul>${links}</ul></div><article><h1>A</h1>${prose}${table}</article></body></html>`,
    );

    expect(article.text).not.toContain('Menu entry');
    expect(article.text).toContain('| k |');
    expect(article.warnings).toEqual(['navigation and other text around the article dropped']);
  });

  it.each([
    ['unclosed tags', '<p>one<p>two<table><tr><td>a<td>b<tr><td>c', ['one', 'two', '| a | b |', '| c |']],
    ['huge spans', '<table><tr><td colspan=99999 rowspan=99999>x</td></tr><tr><td>y</td></tr></table>', ['x', 'y']],
    ['no body', '<html><h2>Only</h2>text</html>', ['## Only', 'text']],
    ['embedded picture', '<p>a</p><img alt="chart" src="data:image/png;base64,AAAA">', ['a', 'chart']],
  ])('reads a page with %s', async (_, html, expected) => {
    const { text } = await read(html);

    for (const part of expected) expect(text).toContain(part);
  });

  it('keeps the plain text of a page nested too deeply for the stack', async () => {
    const { text, warnings } = await read(`${'<div><font>'.repeat(3000)}deep<p>text`);

    expect(text).toBe('deep\ntext');
    expect(warnings).toHaveLength(1);
  });

  it('believes valid UTF-8 rather than a wrong meta charset', async () => {
    expect((await read('<meta charset="gbk"><p>中文内容</p>')).text).toBe('中文内容');
  });

  it.each([
    ['table_06.html', ['|']],
    ['html_code_snippets.html', ['```']],
    ['html_description_list.html', []],
    ['hyperlink_03.html', ['- My Section\n  - Some page']],
  ])('reads %s', async (name, expected) => {
    const { text, characters } = await readSample(name);

    expect(characters).toBeGreaterThan(100);
    for (const part of expected) expect(text).toContain(part);
  });
});
