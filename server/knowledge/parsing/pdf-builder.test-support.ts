/** One piece of text: place in points from the lower left corner, size, and font (`latin` or `han`). */
export interface PdfText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly font?: 'latin' | 'han';
}

export interface PdfPage {
  readonly texts: readonly PdfText[];
  /** Paints a one-pixel picture over the page, as a scan would. */
  readonly hasPicture?: boolean;
}

const pageWidth = 600;
const pageHeight = 800;
const picture = 'q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 /F /AHx ID 80> EI Q';

/**
 * Writes a small PDF. Han text uses a font that is not embedded and a predefined character map, so reading it needs the
 * maps of the PDF library. `outline`: titles with the index of the page they lead to.
 */
export function buildPdf(
  pages: readonly PdfPage[],
  outline: readonly { title: string; page: number }[] = [],
): Uint8Array {
  const objects: string[] = [];
  const add = (body: string) => objects.push(body);
  add(`<< /Type /Catalog /Pages 2 0 R ${outline.length > 0 ? '/Outlines 6 0 R' : ''} >>`);
  const pageId = (index: number) => 7 + outline.length + index * 2;
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${pageId(index)} 0 R`).join(' ')}] >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  add('<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [5 0 R] >>');
  add(
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 ' +
      '/FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] ' +
      '/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> ' +
      '/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> >>',
  );
  add(`<< /First 7 0 R /Last ${6 + outline.length} 0 R /Count ${outline.length} >>`);
  outline.forEach(({ title, page }, index) => {
    const next = index + 1 < outline.length ? `/Next ${8 + index} 0 R` : '';
    add(`<< /Title <feff${utf16(title)}> /Parent 6 0 R ${next} /Dest [${pageId(page)} 0 R /Fit] >>`);
  });
  pages.forEach((page, index) => {
    const content = [...(page.hasPicture ? [picture] : []), ...page.texts.map(textOperators)].join('\n');
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] /Contents ${pageId(index) + 1} 0 R ` +
        '/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>',
    );
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  });
  return assemble(objects);
}

function textOperators({ text, x, y, size = 10, font = 'latin' }: PdfText): string {
  const string = font === 'han' ? `<${utf16(text)}>` : `(${text.replace(/[\\()]/g, '\\$&')})`;
  return `BT /${font === 'han' ? 'F2' : 'F1'} ${size} Tf 1 0 0 1 ${x} ${y} Tm ${string} Tj ET`;
}

function utf16(text: string): string {
  return Buffer.from(text, 'utf16le').swap16().toString('hex');
}

function assemble(objects: readonly string[]): Uint8Array {
  let file = '%PDF-1.7\n';
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const trailer = `trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`, 'latin1');
}
