import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { prepareDocumentXml } from './docx-prepare.ts';
import { readParagraphStyles, toStyleMap } from './docx-styles.ts';
import { formatNumber } from './number-formats.ts';
import { parseDocument } from './parse-document.ts';
import { readZipDirectory, replaceZipEntry, unpackZipEntry } from './zip-directory.ts';

const sample = (name: string) => readFileSync(new URL(`./samples/${name}`, import.meta.url));
const readSample = async (name: string) => parseDocument({ name, bytes: sample(name) });

/** The sample with another document text, to test what no sample holds. */
async function readBody(body: string, styles?: string): Promise<string> {
  let bytes: Buffer = sample('word_tables.docx');
  const replace = (name: string, change: (xml: string) => string) => {
    const entries = readZipDirectory(bytes) ?? [];
    const entry = entries.find((candidate) => candidate.name === name);
    if (!entry) throw new Error(`${name} is missing`);
    bytes = replaceZipEntry(bytes, entries, entry, Buffer.from(change(unpackZipEntry(bytes, entry, 1e7).toString())));
  };
  replace('word/document.xml', (xml) => xml.replace(/<w:body>[\s\S]*<\/w:body>/, () => `<w:body>${body}</w:body>`));
  if (styles) replace('word/styles.xml', (xml) => xml.replace('</w:styles>', () => `${styles}</w:styles>`));
  return (await parseDocument({ name: 'a.docx', bytes })).text;
}

const paragraph = (text: string, style = '') =>
  `<w:p><w:pPr>${style && `<w:pStyle w:val="${style}"/>`}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const style = (id: string, name: string, more = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;

describe('parseDocx', () => {
  it('R3: reads headings, nested lists and list numbers', async () => {
    const { text, strategy } = await readSample('docx_lists.docx');

    expect(strategy).toBe('docx');
    expect(text).toMatch(/^# Test Document/);
    expect(text).toContain('- List item 2\n  - List item 1.1\n  - List item 1.2\n    - List item 1.2.1');
    expect(text).toContain('1.1 Morning Walk');
    expect(text).toContain('2.1 Market Stops');
  });

  it('goes on counting where a list goes on after other text', async () => {
    expect((await readSample('docx_list_resumed_numbering.docx')).text).toContain('3. Third ordered item');
  });

  it('keeps tables, with lists and tables inside cells, and counts dropped images', async () => {
    const { text, warnings } = await readSample('docx_rich_cells.docx');

    expect(text).toContain('| Column A | Column B |\n| --- | --- |');
    expect(text).toContain('- A First<br>- A Second<br>- A Third');
    expect(text).toContain('A nested table');
    expect(warnings).toEqual(['2 image(s) dropped']);
  });

  it('keeps formulas', async () => {
    expect((await readSample('omml_func_log.docx')).text).toContain('$y = log(x)$');
  });

  it('knows headings by Chinese names and by outline level, below the title', async () => {
    const styles =
      style('a1', '标题 1x', '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>') +
      style('a2', '企业小标题', '<w:basedOn w:val="a1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>') +
      style('a3', '标题');

    const text = await readBody(
      paragraph('手册', 'a3') + paragraph('总则', 'a1') + paragraph('范围', 'a2') + paragraph('内容'),
      styles,
    );

    expect(text).toBe('# 手册\n\n## 总则\n\n### 范围\n\n内容');
  });

  it('writes numbers such as 第三条 into the text', () => {
    const numbering =
      '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="9"/><w:numFmt w:val="chineseCounting"/>' +
      '<w:lvlText w:val="第%1条"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>';
    const item =
      '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>';

    const xml = prepareDocumentXml(item + item + item, numbering, new Map());

    expect(xml.match(/第[^ <]+/g)).toEqual(['第九条', '第十条', '第十一条']);
    expect(xml.match(/<w:numId w:val="0"\/>/g)).toHaveLength(3);
  });

  it('takes no entry of a table of contents for a heading', () => {
    const styles = readParagraphStyles(style('h', 'heading 1') + style('t', 'toc 1', '<w:basedOn w:val="h"/>'));

    expect(toStyleMap(styles.values())).toEqual(["p[style-name='heading 1'] => h1:fresh"]);
  });

  it.each([
    [1, 'chineseCounting', '一'],
    [10, 'chineseCounting', '十'],
    [21, 'chineseCountingThousand', '二十一'],
    [110, 'chineseCounting', '一百一十'],
    [205, 'chineseCounting', '二百零五'],
    [12, 'chineseLegalSimplified', '壹拾贰'],
    [4, 'upperRoman', 'IV'],
    [28, 'lowerLetter', 'bb'],
    [3, 'decimalEnclosedCircle', '③'],
    [2, 'ideographTraditional', '乙'],
    [7, 'unknown', '7'],
  ])('formats %s as %s', (value, format, expected) => {
    expect(formatNumber(value, format)).toBe(expected);
  });

  it.each([
    ['a truncated file', sample('word_tables.docx').subarray(0, 9000), 'damaged_document'],
    ['a file with bytes changed', damage(sample('word_tables.docx')), 'damaged_document'],
    ['an archive without a document', Buffer.from('PK\x05\x06'.padEnd(22, '\0'), 'latin1'), 'damaged_document'],
    ['text', Buffer.from('plain text'), 'damaged_document'],
    ['an encrypted file', encrypted(), 'encrypted_document'],
    ['a container header only', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'encrypted_document'],
  ])('refuses %s', async (_, bytes, code) => {
    await expect(parseDocument({ name: 'a.docx', bytes })).rejects.toMatchObject({ code });
  });

  it('says how to save an old Word file', async () => {
    const reading = readSample('greek_heading_styles.doc');

    await expect(reading).rejects.toMatchObject({
      code: 'unsupported_format',
      message: expect.stringContaining('.docx'),
    });
  });

  it('refuses a zip bomb by its declared sizes', async () => {
    const bytes = Buffer.from(sample('word_tables.docx'));
    const directory = bytes.lastIndexOf(Buffer.from('PK\x01\x02'));
    bytes.writeUInt32LE(0x7fffffff, directory + 24);

    await expect(parseDocument({ name: 'a.docx', bytes })).rejects.toMatchObject({ code: 'too_large' });
  });
});

function damage(bytes: Buffer): Buffer {
  const damaged = Buffer.from(bytes);
  const entry = readZipDirectory(bytes)?.find(({ name }) => name === 'word/document.xml');
  damaged.fill(0xaa, (entry?.headerOffset ?? 0) + 60, (entry?.headerOffset ?? 0) + 400);
  return damaged;
}

function encrypted(): Buffer {
  const header = Buffer.from('d0cf11e0a1b11ae1', 'hex');
  return Buffer.concat([header, Buffer.alloc(1000), Buffer.from('EncryptedPackage', 'utf16le')]);
}
