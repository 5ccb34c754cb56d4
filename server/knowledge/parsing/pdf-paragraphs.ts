import { isCjk, joinLines } from './cjk-text.ts';
import type { TextLine } from './pdf-lines.ts';

/** In typical distances of lines. */
const paragraphGap = 1.35;
const defaultLeading = 1.25;
const bullet =
  /^(?:[•●○■□◆◇▪▸‣⁃∙·*–—-]\s*\S|[（(]?(?:\d{1,3}|[a-zA-Z]|[一二三四五六七八九十]{1,3}|[ivx]{1,4})[)）.、．]\s*\S|第[〇零一二三四五六七八九十百千\d]+[编章节条]|[①-⑳])/;
const sentenceEnd = /[。！？.!?:：；;…][”’"'）)\]]*$/;

type Break = 'none' | 'line' | 'paragraph';

/**
 * Writes lines as markdown: lines of a paragraph joined, headings with `#`, rows of tables on lines of their own.
 * `lines`: of the whole document in reading order; `levels`: from findPdfHeadings. Never throws.
 */
export function writeParagraphs(lines: readonly TextLine[], levels: ReadonlyMap<TextLine, number>): string {
  const leading = typicalLeading(lines);
  let text = '';
  let paragraph = '';
  let previous: TextLine | null = null;
  for (const line of lines) {
    const kind = previous ? breakBetween(previous, line, levels, leading) : 'paragraph';
    if (kind === 'none') {
      paragraph = joinLines(paragraph, line.text);
    } else {
      text += paragraph === '' ? '' : `${paragraph}${kind === 'line' ? '\n' : '\n\n'}`;
      paragraph = `${'#'.repeat(levels.get(line) ?? 0)} ${toMarkdown(line.text)}`.trimStart();
    }
    previous = line;
  }
  return text + paragraph;
}

/** Bullets become list marks; text such as "# of items" is no heading. */
function toMarkdown(text: string): string {
  return text.replace(/^[•●▪◆■◦‣⁃∙·]\s*(?=\S)/, '- ').replace(/^(#{1,6}\s)/, '\\$1');
}

/** Median distance of neighbouring lines in sizes of their font. */
function typicalLeading(lines: readonly TextLine[]): number {
  const distances: number[] = [];
  lines.forEach((line, index) => {
    const previous = lines[index - 1];
    if (!previous || !isBelow(previous, line) || Math.abs(previous.size - line.size) > 0.5) return;
    const distance = (line.baseline - previous.baseline) / line.size;
    if (distance < 2.5) distances.push(distance);
  });
  distances.sort((a, b) => a - b);
  return distances[Math.floor(distances.length / 2)] ?? defaultLeading;
}

function isBelow(previous: TextLine, line: TextLine): boolean {
  const isSameColumn = previous.columnLeft === line.columnLeft && previous.columnRight === line.columnRight;
  return previous.page === line.page && isSameColumn && line.baseline > previous.baseline;
}

function breakBetween(
  previous: TextLine,
  line: TextLine,
  levels: ReadonlyMap<TextLine, number>,
  leading: number,
): Break {
  const level = levels.get(line) ?? 0;
  const previousLevel = levels.get(previous) ?? 0;
  if (!isBelow(previous, line))
    return continuesElsewhere(previous, line, level + previousLevel > 0) ? 'none' : 'paragraph';
  const distance = (line.baseline - previous.baseline) / Math.max(line.size, previous.size);
  if (level > 0 || previousLevel > 0) return level === previousLevel && distance < 1.8 ? 'none' : 'paragraph';
  if (distance > leading * paragraphGap) return 'paragraph';
  if (Math.abs(previous.size - line.size) > 0.15 * previous.size) return 'paragraph';
  if (previous.cells.length > 1 || line.cells.length > 1 || bullet.test(line.text)) return 'line';
  if (line.isRightToLeft) return previous.left > previous.columnLeft + 4 * line.size ? 'line' : 'none';
  if (/^\p{Ll}/u.test(line.text) && !sentenceEnd.test(previous.text)) return 'none';
  // Lines below a bullet are indented to stand under its text.
  if (isIndented(previous, line) && !bullet.test(previous.text)) return 'paragraph';
  return endsParagraph(previous) ? 'line' : 'none';
}

function isIndented(previous: TextLine, line: TextLine): boolean {
  const indent = (line.left - line.columnLeft) / line.size;
  const previousIndent = (previous.left - previous.columnLeft) / line.size;
  if (indent < 0.8 || indent > 4.5) return false;
  return previousIndent < indent - 0.5 || (endsParagraph(previous) && Math.abs(previousIndent - indent) <= 0.5);
}

/** A short last line. Chinese fills its lines to within two characters; Latin text may be ragged. */
function endsParagraph(line: TextLine): boolean {
  const missing = line.columnRight - line.right;
  const width = line.columnRight - line.columnLeft;
  if (isCjk(line.text.at(-1))) return missing > 2.5 * line.size;
  return missing > (sentenceEnd.test(line.text) ? Math.max(2 * line.size, 0.08 * width) : 0.35 * width);
}

/** A sentence that goes on in the next column or on the next page. */
function continuesElsewhere(previous: TextLine, line: TextLine, isHeading: boolean): boolean {
  if (isHeading || previous.cells.length > 1 || line.cells.length > 1) return false;
  if (sentenceEnd.test(previous.text) || bullet.test(line.text)) return false;
  if (Math.abs(previous.size - line.size) > 0.6) return false;
  return (
    !endsParagraph(previous) &&
    previous.columnRight - previous.right < 4 * previous.size &&
    line.left - line.columnLeft < 0.8 * line.size
  );
}
