import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { joinLines, removeCjkSpaces, replaceRadicals } from './cjk-text.ts';
import { parseDocument } from './parse-document.ts';
import { buildPdf, type PdfPage, type PdfText } from './pdf-builder.test-support.ts';

const parse = async (bytes: Uint8Array) => parseDocument({ name: 'a.pdf', bytes });
const sample = (name: string) => readFileSync(new URL(`./samples/${name}`, import.meta.url));

/** Lines below each other, 14 points apart. */
function column(lines: readonly string[], x: number, top: number, more: Partial<PdfText> = {}): PdfText[] {
  return lines.map((text, index) => ({ text, x, y: top - index * 14, ...more }));
}

const prose = (word: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${word}${i} ${'some words of text '.repeat(2)}end`);

describe('parsePdf', () => {
  it('R3: reads a text layer in Chinese without spaces, headings by size, paragraphs by indent', async () => {
    const bytes = buildPdf([
      {
        texts: [
          { text: '测试条例', x: 200, y: 740, size: 20, font: 'han' },
          { text: '第一条　为了规范测试工作，保障质量，提高效率，根据有关法律，制定', x: 80, y: 700, font: 'han' },
          { text: '本条例。前款所称测试，是指对本系统的全部功能所做的检查和验证，包', x: 60, y: 685, font: 'han' },
          { text: '括人工检查。', x: 60, y: 670, font: 'han' },
          { text: '第二条　本条例适用于所有测试。', x: 80, y: 655, font: 'han' },
        ],
      },
    ]);

    const { text, strategy, pages } = await parse(bytes);

    expect([strategy, pages]).toEqual(['pdf-text', 1]);
    expect(text.replaceAll('\u3000', ' ')).toBe(
      '# 测试条例\n\n第一条 为了规范测试工作，保障质量，提高效率，根据有关法律，制定本条例。前款所称测试，是指对本系统的全部功能所做的检查和验证，包括人工检查。\n第二条 本条例适用于所有测试。',
    );
  });

  it('reads two columns one after the other, below a title across both', async () => {
    const bytes = buildPdf([
      {
        texts: [
          { text: 'A Title Across Both Columns of the Page', x: 120, y: 760, size: 18 },
          ...column(prose('left', 12), 40, 700),
          ...column(prose('right', 12), 320, 700),
        ],
      },
    ]);

    const words = (await parse(bytes)).text.match(/(?:left|right)\d+/g);

    expect(words).toEqual([
      ...Array.from({ length: 12 }, (_, i) => `left${i}`),
      ...Array.from({ length: 12 }, (_, i) => `right${i}`),
    ]);
  });

  it('reads a real two-column questionnaire column by column', async () => {
    const { text } = await parse(sample('table_mislabeled_as_picture.pdf'));

    const questions = text.match(/^2\d(?=\. )/gm);

    expect(questions).toEqual(['23', '24', '25', '26', '27', '28']);
    expect(text).toContain('do the staff lawyers coordinate to uniformly challenge common violations');
  });

  it('keeps the cells of a form in their rows', async () => {
    const { text } = await parse(sample('movie-theater-booking-2024.pdf'));

    expect(text).toContain('Order / Rev:  2024-12-5678  Cinema:  Downtown Multiplex');
    expect(text).toContain('# Booking Summary');
  });

  it('joins words divided at line ends and sentences across pages', async () => {
    const full = 'words that fill the line of the column up to its right edge here';
    const bytes = buildPdf([
      { texts: column([`${full} informa-`, `tion ${full}`, `${full} goes on`], 60, 700) },
      { texts: column([`and ends here, ${full}`, `${full}.`], 60, 700) },
    ]);

    const { text } = await parse(bytes);

    expect(text).toContain('here information words');
    expect(text).toContain('goes on and ends');
  });

  it('removes running headers and page numbers', async () => {
    const pages: PdfPage[] = Array.from({ length: 5 }, (_, index) => ({
      texts: [
        { text: 'Annual Report 2024', x: 200, y: 780 },
        ...column(prose(`${'abcde'[index]}line`, 6), 60, 700),
        { text: `${index + 1} / 5`, x: 290, y: 20 },
      ],
    }));

    const { text } = await parse(buildPdf(pages));

    expect(text).not.toMatch(/Annual Report|\d \/ 5/);
    expect(text.match(/[a-e]line0/g)).toHaveLength(5);
  });

  it('takes headings from the outline, with its levels', async () => {
    const chapter = (title: string, word: string): PdfPage => ({
      texts: [{ text: title, x: 60, y: 740 }, ...column(prose(word, 5), 60, 700)],
    });
    const bytes = buildPdf(
      [chapter('1 Introduction', 'a'), chapter('2 Methods', 'b'), { texts: column(prose('c', 5), 60, 700) }],
      [
        { title: 'Introduction', page: 0 },
        { title: '2 Methods', page: 1 },
      ],
    );

    expect((await parse(bytes)).text.match(/^#.*$/gm)).toEqual(['# 1 Introduction', '# 2 Methods']);
  });

  it('names pages that need OCR, but not blank ones', async () => {
    const scan: PdfPage = { texts: [{ text: '.', x: 1, y: 1 }], hasPicture: true };
    const bytes = buildPdf([{ texts: column(prose('x', 3), 60, 700) }, { texts: [] }, scan, { ...scan, texts: [] }]);

    const { warnings, pages } = await parse(bytes);

    expect(pages).toBe(4);
    expect(warnings).toEqual(['pages 3, 4 hold no text and need OCR']);
  });

  it.each([
    ['needs_ocr', 'a scan', buildPdf([{ texts: [], hasPicture: true }])],
    ['needs_ocr', 'a font without meaning', sample('arial_unicode_ab_cidfont.pdf')],
    ['empty_document', 'blank pages', buildPdf([{ texts: [] }])],
    ['damaged_document', 'a header only', Buffer.from('%PDF-1.7\n')],
    ['damaged_document', 'random bytes', Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(3000, 0x9c)])],
    ['too_large', 'too many pages', buildPdf(Array.from({ length: 3001 }, () => ({ texts: [] })))],
  ])('answers %s for %s', async (code, _, bytes) => {
    await expect(parse(bytes)).rejects.toMatchObject({ code });
  });

  it('answers encrypted_document for a file with a password', async () => {
    const plain = Buffer.from(buildPdf([{ texts: [] }])).toString('latin1');
    const encryption =
      `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >> ` +
      `/ID [<${'43'.repeat(16)}> <${'43'.repeat(16)}>]`;
    const bytes = Buffer.from(plain.replace('/Root 1 0 R', `/Root 1 0 R ${encryption}`), 'latin1');

    await expect(parse(bytes)).rejects.toMatchObject({ code: 'encrypted_document' });
  });

  it('leaves the bytes to their owner', async () => {
    const bytes = new Uint8Array(sample('cid_cff.pdf'));

    await parse(bytes);

    expect(bytes.length).toBeGreaterThan(1000);
  });
});

describe('cjk text', () => {
  it.each([
    ['⾏政⻓期⻔⼾', '行政长期门户'],
    ['plain 文字', 'plain 文字'],
  ])('replaces radicals in %s', (text, expected) => {
    expect(replaceRadicals(text)).toBe(expected);
  });

  it.each([
    ['行 政 复 议', '行政复议'],
    ['第一条 为 了', '第一条 为了'],
    ['使用 API 接口', '使用 API 接口'],
  ])('removes spaces in %s', (text, expected) => {
    expect(removeCjkSpaces(text)).toBe(expected);
  });

  it.each([
    ['行政', '复议', '行政复议'],
    ['informa-', 'tion', 'information'],
    ['state-of-', 'the-art', 'state-of-the-art'],
    ['one', 'two', 'one two'],
    ['pages 3-', '5', 'pages 3- 5'],
  ])('joins %s and %s', (first, second, expected) => {
    expect(joinLines(first, second)).toBe(expected);
  });
});
