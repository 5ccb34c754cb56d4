import { isCjk, removeCjkSpaces } from './cjk-text.ts';
import { findColumns } from './pdf-columns.ts';
import type { TextRun } from './pdf-runs.ts';

/** Runs of one line without a wide gap between them: a line of a column, or a cell of a table. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
  /** Size of most of its characters, in points. */
  readonly size: number;
  readonly isRightToLeft: boolean;
}

export interface TextLine extends Segment {
  /** Cells of a table row or of a form; one for plain text. */
  readonly cells: readonly string[];
  /** Lines of one column between two lines that span the page share their edges. */
  readonly columnLeft: number;
  readonly columnRight: number;
  readonly page: number;
}

/** In sizes of the font. Gutters of two-column papers are 1.5–2.5, spaces of justified text below 1. */
const wideGap = 1.1;
const wordGap = 0.17;
const cjkGap = 0.8;
/** The space behind the name of an article is meant, however narrow. */
const divisionName = /^第\S{1,8}[编章节条](?:之\S{1,2})?$/;

/** Builds the lines of a page in reading order, column by column. `page`: index from 0. Never throws. */
export function buildLines(runs: readonly TextRun[], page: number): TextLine[] {
  const segments = groupRows(runs).flatMap(splitRow);
  return findColumns(segments).flatMap((column) => {
    const columnLeft = Math.min(...column.map((segment) => segment.left));
    const columnRight = Math.max(...column.map((segment) => segment.right));
    return groupRows(column).map((row) => ({ ...mergeSegments(row), columnLeft, columnRight, page }));
  });
}

interface Placed {
  readonly baseline: number;
  readonly size: number;
  readonly left: number;
}

/** Groups what stands on one line, top line first; raised and lowered characters belong to the line they overlap. */
function groupRows<Item extends Placed>(items: readonly Item[]): Item[][] {
  const rows: { baseline: number; size: number; items: Item[] }[] = [];
  for (const item of [...items].sort((a, b) => a.baseline - b.baseline || a.left - b.left)) {
    const row = rows.slice(-3).find((candidate) => overlaps(candidate, item));
    if (!row) {
      rows.push({ baseline: item.baseline, size: item.size, items: [item] });
      continue;
    }
    row.items.push(item);
    if (item.size > row.size) Object.assign(row, { baseline: item.baseline, size: item.size });
  }
  return rows.map((row) => row.items);
}

function overlaps(row: { baseline: number; size: number }, item: Placed): boolean {
  const top = Math.max(row.baseline - row.size * 0.8, item.baseline - item.size * 0.8);
  const bottom = Math.min(row.baseline + row.size * 0.2, item.baseline + item.size * 0.2);
  return bottom - top > Math.min(row.size, item.size) * 0.55;
}

function splitRow(row: readonly TextRun[]): Segment[] {
  const ordered = [...row].sort((a, b) => a.left - b.left);
  const parts: TextRun[][] = [];
  for (const run of ordered) {
    const part = parts.at(-1);
    const previous = part?.at(-1);
    if (part && previous && run.left - previous.right <= wideGap * Math.max(run.size, previous.size)) part.push(run);
    else parts.push([run]);
  }
  return parts.map(toSegment);
}

function toSegment(runs: readonly TextRun[]): Segment {
  const rightToLeft = runs.filter((run) => run.isRightToLeft);
  const isRightToLeft = lengthOf(rightToLeft) * 2 > lengthOf(runs);
  const first = runs[0];
  const text = isRightToLeft ? joinRightToLeft(runs) : joinRuns(runs);
  return {
    text: removeCjkSpaces(text.replace(/[^\S\u3000]+/g, ' ').trim()),
    left: first?.left ?? 0,
    right: Math.max(...runs.map((run) => run.right)),
    baseline: mainRun(runs)?.baseline ?? 0,
    size: mainRun(runs)?.size ?? 0,
    isRightToLeft,
  };
}

function lengthOf(runs: readonly TextRun[]): number {
  return runs.reduce((sum, run) => sum + run.text.length, 0);
}

/** The run whose size has most characters. */
function mainRun(runs: readonly TextRun[]): TextRun | undefined {
  const lengths = new Map<number, number>();
  for (const run of runs) lengths.set(run.size, (lengths.get(run.size) ?? 0) + run.text.length);
  return runs.reduce(
    (best, run) => ((lengths.get(run.size) ?? 0) > (lengths.get(best.size) ?? 0) ? run : best),
    runs[0] as TextRun,
  );
}

function joinRuns(runs: readonly TextRun[]): string {
  let text = '';
  let previous: TextRun | null = null;
  for (const run of runs) {
    if (previous && needsSpace(previous, run, text)) text += ' ';
    text += run.text;
    previous = run;
  }
  return text;
}

function needsSpace(previous: TextRun, run: TextRun, before: string): boolean {
  const gap = run.left - previous.right;
  const size = Math.min(previous.size, run.size);
  const isBetweenCjk = isCjk(previous.text.at(-1)) && isCjk(run.text[0]) && !divisionName.test(before.trim());
  return gap > (isBetweenCjk ? cjkGap : wordGap) * size;
}

/** Runs of the other direction inside the line keep their own order. */
function joinRightToLeft(runs: readonly TextRun[]): string {
  const ordered = [...runs].sort((a, b) => b.right - a.right);
  let text = '';
  let previous: TextRun | null = null;
  for (const run of ordered) {
    if (previous && previous.left - run.right > wordGap * Math.min(previous.size, run.size)) text += ' ';
    text += run.text;
    previous = run;
  }
  return text;
}

function mergeSegments(row: readonly Segment[]): Segment & { cells: string[] } {
  const isRightToLeft = row.filter((segment) => segment.isRightToLeft).length * 2 > row.length;
  const ordered = [...row].sort((a, b) => (isRightToLeft ? b.left - a.left : a.left - b.left));
  const longest = ordered.reduce((best, segment) => (segment.text.length > best.text.length ? segment : best));
  const cells = joinMark(ordered.map((segment) => segment.text));
  return {
    text: cells.join('  '),
    cells,
    left: Math.min(...ordered.map((segment) => segment.left)),
    right: Math.max(...ordered.map((segment) => segment.right)),
    baseline: longest.baseline,
    size: longest.size,
    isRightToLeft,
  };
}

/** The mark or number of a list item or heading stands far from its text but is no cell of a table. */
function joinMark(cells: readonly string[]): string[] {
  const [mark = '', text, ...others] = cells;
  const isMark =
    /^(?:[^\p{L}\p{N}\s]|[（(]?[\p{L}\p{N}]{1,3}[)）.、．]|\d+(?:\.\d+)+\.?|第[^\s]{1,8}[编章节条])$/u.test(mark);
  return isMark && text !== undefined && others.length === 0 ? [`${mark} ${text}`] : [...cells];
}
