/** A line of a markdown text. `start` and `end`: UTF-16 offsets, `end` without the newline. */
export interface MarkdownLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether the line is part of a fenced code block, its fences included. */
  readonly isCode: boolean;
}

export interface MarkdownHeading {
  readonly level: number;
  readonly start: number;
  readonly end: number;
  /** The heading without its marks. */
  readonly text: string;
}

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const atxHeading = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const setextUnderline = /^ {0,3}(=+|-{3,})[ \t]*$/;
/** A longer line is text behind a stray mark; the limit also keeps the patterns fast on a line of a million spaces. */
const maxHeadingLine = 1000;
const notSetextText = /^\s*(?:[|>#*+-]|\d+[.)]|$)/;

/** Splits a text at `\n` and marks the lines of fenced code; a fence that is never closed marks nothing. Never throws. */
export function readMarkdownLines(text: string): MarkdownLine[] {
  const lines: { text: string; start: number; end: number; isCode: boolean }[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    lines.push({ text: line, start, end: start + line.length, isCode: false });
    start += line.length + 1;
  }
  let openedAt = -1;
  let mark = '';
  lines.forEach((line, index) => {
    const match = fence.exec(line.text);
    const found = match?.[1] ?? '';
    if (openedAt < 0) {
      // An info string with a backtick is inline code such as ```x```, not a fence.
      if (found !== '' && !(found.startsWith('`') && (match?.[2] ?? '').includes('`'))) {
        openedAt = index;
        mark = found;
      }
      return;
    }
    const closes = found.startsWith(mark) && (match?.[2] ?? '').trim() === '';
    if (!closes) return;
    for (const code of lines.slice(openedAt, index + 1)) code.isCode = true;
    openedAt = -1;
  });
  return lines;
}

/** Finds the `#` and underlined headings outside code, in order. Headings without text are not headings. Never throws. */
export function findMarkdownHeadings(lines: readonly MarkdownLine[]): MarkdownHeading[] {
  const headings: MarkdownHeading[] = [];
  lines.forEach((line, index) => {
    if (line.isCode || line.text.length > maxHeadingLine) return;
    const atx = atxHeading.exec(line.text);
    if (atx?.[1] && atx[2]?.trim()) {
      headings.push({ level: atx[1].length, start: line.start, end: line.end, text: atx[2].trim() });
      return;
    }
    const underline = setextUnderline.exec(line.text)?.[1];
    const above = lines[index - 1];
    if (!underline || !above || above.isCode || above.text.length > maxHeadingLine || notSetextText.test(above.text))
      return;
    // Only a single line is taken for a heading: `---` under a longer paragraph is nearly always meant as a rule.
    if ((lines[index - 2]?.text.trim() ?? '') !== '') return;
    const level = underline.startsWith('=') ? 1 : 2;
    headings.push({ level, start: above.start, end: line.end, text: above.text.trim() });
  });
  return headings;
}
