import { cutEvery, linesOf } from './cut-text.ts';

/** A table or a code block: when it is cut, every part gets `head` and `tail`. */
interface Rows {
  readonly head: string;
  readonly rows: readonly string[];
  readonly tail: string;
}

type Unit = string | Rows;

/** Up to this a row is read better whole, even where it is longer than a passage. */
const maxRowLength = 8000;

const tableRow = /^\s*\|/;
const separatorCell = /^:?-+:?$/;
const fenceStart = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const sentence = /[^。！？；!?;]*(?:[。！？；!?;]+[”’』」）)"']*|$)/g;
const clause = /[^，、,：\s]*(?:[，、,：\s]+|$)/g;

/**
 * Cuts the text under one heading into passages of at most `limit` UTF-16 units: between paragraphs where possible, else
 * between lines, sentences, clauses, and only then inside a word, never inside a surrogate pair. A table is cut between
 * rows and its header is repeated; a code block is cut between lines and its fences are repeated; what would fill more
 * than half of every passage is not repeated. A row longer than the limit stays whole up to 8,000 units, with a head
 * above it. Neighbouring short paragraphs share a passage.
 *
 * Returns passages without blank lines at their ends; no other character is lost. Never throws.
 */
export function cutPassages(text: string, limit: number): string[] {
  const passages: string[] = [];
  let passage = '';
  for (const piece of readUnits(text).flatMap((unit) => piecesOf(unit, limit))) {
    if (passage !== '' && passage.length + piece.length > limit) {
      passages.push(passage);
      passage = '';
    }
    passage += piece;
  }
  passages.push(passage);
  return passages.map(trimBlankLines).filter((part) => part !== '');
}

/** Removes blank lines at both ends and the space behind the last line; the first line keeps its indentation. */
export function trimBlankLines(text: string): string {
  const lines = linesOf(text);
  const first = lines.findIndex((line) => !isBlank(line));
  return first < 0 ? '' : lines.slice(first).join('').trimEnd();
}

/** Whether a text holds nothing but white space; converters leave zero-width spaces on lines of their own. */
export function isBlank(text: string): boolean {
  return /^[\s\u200b]*$/.test(text);
}

function readUnits(text: string): Unit[] {
  const lines = linesOf(text);
  const units: Unit[] = [];
  for (let index = 0; index < lines.length; ) {
    const end = blockEnd(lines, index);
    const block = lines.slice(index, end);
    units.push(toUnit(block));
    index = end;
  }
  return units;
}

/** Index behind the code block, the table or the paragraph (with the blank lines after it) that begins at `index`. */
function blockEnd(lines: readonly string[], index: number): number {
  const first = lines[index] ?? '';
  const mark = fenceStart.exec(first.trimEnd())?.[1];
  let end = index + 1;
  if (mark) {
    while (end < lines.length && !(lines[end] ?? '').trim().startsWith(mark)) end += 1;
    if (end < lines.length) return end + 1;
    end = index + 1;
  }
  if (tableRow.test(first)) {
    while (end < lines.length && tableRow.test(lines[end] ?? '')) end += 1;
    return end;
  }
  while (end < lines.length && !startsBlock(lines[end] ?? '') && !isBlank(lines[end - 1] ?? '')) end += 1;
  while (end < lines.length && isBlank(lines[end] ?? '')) end += 1;
  return end;
}

function startsBlock(line: string): boolean {
  return tableRow.test(line) || fenceStart.test(line.trimEnd());
}

function toUnit(block: readonly string[]): Unit {
  const first = block[0] ?? '';
  const last = block.at(-1) ?? '';
  if (fenceStart.test(first.trimEnd()) && block.length > 2) {
    return { head: first, rows: block.slice(1, -1), tail: last };
  }
  if (!tableRow.test(first)) return block.join('');
  const headLines = isTableSeparator(block[1] ?? '') ? 2 : 0;
  return { head: block.slice(0, headLines).join(''), rows: block.slice(headLines), tail: '' };
}

/** Not one pattern for the whole line: on 100,000 spaces that took 14 s. */
function isTableSeparator(line: string): boolean {
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|');
  return cells.every((cell) => separatorCell.test(cell.trim()));
}

function piecesOf(unit: Unit, limit: number): string[] {
  if (typeof unit !== 'string') return cutRows(unit, limit);
  if (unit.length <= limit) return [unit];
  return linesOf(unit).flatMap((line) => cutLine(line, limit));
}

function cutRows({ head, rows, tail }: Rows, limit: number): string[] {
  // Repeated in every part, a head of 3,000 characters made 6 MB of a table of 20 kB.
  if (head.length + tail.length > limit / 2) return packRows([...linesOf(head), ...rows, tail], limit);
  const room = limit - head.length - tail.length;
  if (tail === '') return packRows(rows, room).map((body) => head + body);
  const bodies = packRows(
    rows.flatMap((line) => cutEvery(line, room)),
    room,
  );
  return bodies.map((body) => `${head}${body.endsWith('\n') ? body : `${body}\n`}${tail}`);
}

/** Joins rows to parts of at most `room`; what is far longer is cut. At least one part, which may be empty. */
function packRows(rows: readonly string[], room: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const row of rows.flatMap((whole) => (whole.length <= maxRowLength ? [whole] : cutLine(whole, room)))) {
    if (part !== '' && part.length + row.length > room) {
      parts.push(part);
      part = '';
    }
    part += row;
  }
  parts.push(part);
  return parts;
}

/** Each way of cutting is tried only on what the one before left too long. */
function cutLine(line: string, limit: number): string[] {
  let parts = [line];
  for (const pattern of [sentence, clause]) {
    parts = parts.flatMap((part) => (part.length <= limit ? [part] : (part.match(pattern) ?? [])));
  }
  return parts.flatMap((part) => (part.length <= limit ? [part] : cutEvery(part, limit)));
}
