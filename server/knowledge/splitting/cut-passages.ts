import { cutEvery, linesOf } from './cut-text.ts';

/** A table or a code block: when it is cut, every part gets `head` and `tail`. */
interface Rows {
  readonly head: string;
  readonly rows: readonly string[];
  readonly tail: string;
}

type Unit = string | Rows;

const tableRow = /^\s*\|/;
const tableSeparator = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const fenceStart = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const sentence = /[^。！？；!?;]*(?:[。！？；!?;]+[”’』」）)"']*|$)/g;
const clause = /[^，、,：\s]*(?:[，、,：\s]+|$)/g;

/**
 * Cuts the text under one heading into passages of at most `limit` UTF-16 units: between paragraphs where possible, else
 * between lines, sentences, clauses, and only then inside a word, never inside a surrogate pair. A table is cut between
 * rows and its header is repeated; a code block is cut between lines and its fences are repeated; a single row longer
 * than the limit stays whole. Neighbouring short paragraphs share a passage.
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
  const headLines = tableSeparator.test((block[1] ?? '').trimEnd()) ? 2 : 0;
  return { head: block.slice(0, headLines).join(''), rows: block.slice(headLines), tail: '' };
}

function piecesOf(unit: Unit, limit: number): string[] {
  if (typeof unit !== 'string') return cutRows(unit, limit);
  if (unit.length <= limit) return [unit];
  return linesOf(unit).flatMap((line) => cutLine(line, limit));
}

function cutRows({ head, rows, tail }: Rows, limit: number): string[] {
  const room = Math.max(1, limit - head.length - tail.length);
  const isCode = tail !== '';
  const parts: string[] = [];
  let part = '';
  for (const row of isCode ? rows.flatMap((line) => cutEvery(line, Math.max(room, limit / 2))) : rows) {
    if (part !== '' && part.length + row.length > room) {
      parts.push(part);
      part = '';
    }
    part += row;
  }
  parts.push(part);
  return parts.map((body) => `${head}${isCode && !body.endsWith('\n') ? `${body}\n` : body}${tail}`);
}

/** Each way of cutting is tried only on what the one before left too long. */
function cutLine(line: string, limit: number): string[] {
  let parts = [line];
  for (const pattern of [sentence, clause]) {
    parts = parts.flatMap((part) => (part.length <= limit ? [part] : (part.match(pattern) ?? [])));
  }
  return parts.flatMap((part) => (part.length <= limit ? [part] : cutEvery(part, limit)));
}
