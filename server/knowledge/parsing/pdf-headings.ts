import { isCjk } from './cjk-text.ts';
import type { TextLine } from './pdf-lines.ts';

/** Larger than body text by this factor: 12 pt above 10.5 pt is a heading, 11 pt is not. */
const minFactor = 1.12;
const titleFactor = 1.3;
const maxLevels = 4;
const maxShare = 0.3;
const maxLatinLength = 120;
const maxCjkLength = 50;

/** An entry of the outline (bookmarks). `page`: index from 0, null when its target is unknown; `depth` from 0. */
export interface OutlineEntry {
  readonly title: string;
  readonly depth: number;
  readonly page: number | null;
}

/**
 * Finds the headings among lines: those the outline names, if it names at least half of its entries' lines, else lines
 * in clearly larger type. `lines`: all lines of the document. Returns levels from 1; lines without one are text.
 * Never throws.
 */
export function findPdfHeadings(lines: readonly TextLine[], outline: readonly OutlineEntry[]): Map<TextLine, number> {
  const bySize = headingsBySize(lines);
  const byOutline = headingsByOutline(lines, outline);
  if (byOutline.matched < 2 || byOutline.matched * 2 < outline.length) return bySize;
  const title = titleLines(lines, byOutline.levels);
  const shift = title.length > 0 ? 1 : 0;
  const levels = new Map<TextLine, number>(title.map((line) => [line, 1]));
  for (const [line, level] of byOutline.levels) levels.set(line, Math.min(6, level + shift));
  return levels;
}

/** The size that most characters have, in half points; 0 for no lines. */
export function bodySize(lines: readonly TextLine[]): number {
  const lengths = new Map<number, number>();
  for (const line of lines) {
    const size = roundSize(line.size);
    lengths.set(size, (lengths.get(size) ?? 0) + line.text.length);
  }
  let best = 0;
  for (const [size, length] of lengths) {
    if (length > (lengths.get(best) ?? 0)) best = size;
  }
  return best;
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}

function headingsBySize(lines: readonly TextLine[]): Map<TextLine, number> {
  const body = bodySize(lines);
  const headings = lines.filter((line) => line.size >= body * minFactor && looksLikeHeading(line));
  // A poster or a form is not a document with headings.
  if (headings.length > Math.max(3, lines.length * maxShare)) return new Map();
  const sizes = [...new Set(headings.map((line) => roundSize(line.size)))].sort((a, b) => b - a);
  return new Map(headings.map((line) => [line, Math.min(maxLevels, sizes.indexOf(roundSize(line.size)) + 1)]));
}

function looksLikeHeading(line: TextLine): boolean {
  const text = line.text;
  const limit = isCjk(text.at(-1)) || isCjk(text[0]) ? maxCjkLength : maxLatinLength;
  return line.cells.length === 1 && text.length <= limit && /\p{L}.*\p{L}/u.test(text) && !/[。；;，,：]$/.test(text);
}

/** The title of a document is seldom in its outline; the entries are then one level below it. */
function titleLines(lines: readonly TextLine[], levels: ReadonlyMap<TextLine, number>): TextLine[] {
  const end = lines.findIndex((line) => levels.has(line));
  const before = lines.slice(0, Math.max(0, end)).filter((line) => line.page === 0 && looksLikeHeading(line));
  const largest = Math.max(0, ...before.map((line) => line.size));
  if (largest < bodySize(lines) * titleFactor) return [];
  return before.filter((line) => roundSize(line.size) === roundSize(largest)).slice(0, 3);
}

function headingsByOutline(
  lines: readonly TextLine[],
  outline: readonly OutlineEntry[],
): { levels: Map<TextLine, number>; matched: number } {
  const pages = new Map<number, TextLine[]>();
  for (const line of lines) pages.set(line.page, [...(pages.get(line.page) ?? []), line]);
  const levels = new Map<TextLine, number>();
  let matched = 0;
  let lastPage = 0;
  for (const entry of outline) {
    const key = keyOf(entry.title);
    if (key === '') continue;
    const candidates = entry.page === null ? [lastPage, lastPage + 1] : [entry.page, entry.page + 1];
    const found = candidates
      .map((page) => findTitle(pages.get(page) ?? [], key, levels))
      .find((match) => match.length > 0);
    if (!found) continue;
    matched += 1;
    lastPage = found[0]?.page ?? lastPage;
    for (const line of found) levels.set(line, Math.min(6, entry.depth + 1));
  }
  return { levels, matched };
}

/** A title may be set on up to three lines, and the outline may leave out the number in front of it. */
function findTitle(lines: readonly TextLine[], key: string, taken: ReadonlyMap<TextLine, number>): TextLine[] {
  for (let index = 0; index < lines.length; index += 1) {
    let text = '';
    for (let count = 1; count <= 3 && index + count <= lines.length; count += 1) {
      const part = lines.slice(index, index + count);
      text += keyOf(part.at(-1)?.text ?? '');
      if (part.some((line) => taken.has(line))) break;
      if (
        text === key ||
        (text.endsWith(key) && /^[\d一二三四五六七八九十第章节条]+$/.test(text.slice(0, -key.length)))
      ) {
        return part;
      }
    }
  }
  return [];
}

function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\s\p{P}\p{S}]/gu, '')
    .toLowerCase();
}
