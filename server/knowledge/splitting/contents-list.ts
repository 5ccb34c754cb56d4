import type { MarkdownLine } from './markdown-lines.ts';
import { readArticleStart, readDivision } from './statute-lines.ts';

const contentsTitle = /^[#\s*_]*(?:目\s*录|目\s*次|contents|table of contents)[\s*_:：]*$/i;
const pageNumber = /(?:[.．…·・\-—]{2,}|\t|\s{2,})\s*[（(]?\d+[)）]?\s*$/;
const maxEntryLength = 80;

/**
 * Finds the lines that belong to a table of contents, so that its entries are not taken for chapters or articles: lines
 * with a leader and a page number, what follows a line "目录", and runs of division names that come again later.
 * Returns indexes into `lines`. Never throws.
 */
export function findContentsLines(lines: readonly MarkdownLine[]): Set<number> {
  const filled = lines.flatMap((line, index) => (line.text.trim() === '' || line.isCode ? [] : [index]));
  const keys = new Map(filled.map((index) => [index, entryKey(lines[index]?.text ?? '')]));
  const found = new Set<number>();
  filled.forEach((index, position) => {
    const text = lines[index]?.text ?? '';
    if (isNumberedEntry(text)) found.add(index);
    if (contentsTitle.test(text)) {
      for (const entry of entriesAfter(lines, filled, keys, position)) found.add(entry);
    }
  });
  for (const entry of repeatedRuns(lines, filled, keys)) found.add(entry);
  return found;
}

function entryKey(text: string): string {
  if (text.length > 2 * maxEntryLength) return text;
  return text
    .replace(pageNumber, '')
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[\s\u200b#*_[\]]/g, '');
}

function isNumberedEntry(text: string): boolean {
  if (text.length > 2 * maxEntryLength || !pageNumber.test(text)) return false;
  const bare = text.replace(/^[\s#*_>[-]+/, '');
  return readDivision(bare.replace(pageNumber, '')) !== null || readArticleStart(bare) !== null;
}

/** The entries end where the first one comes again (the text begins) or at a line that is no entry. */
function entriesAfter(
  lines: readonly MarkdownLine[],
  filled: readonly number[],
  keys: ReadonlyMap<number, string>,
  position: number,
): number[] {
  const rest = filled.slice(position + 1, position + 2000);
  const firstKey = keys.get(rest[0] ?? -1);
  const again = rest.findIndex((index, order) => order > 0 && keys.get(index) === firstKey);
  const entries: number[] = [];
  for (const [order, index] of rest.entries()) {
    const text = lines[index]?.text ?? '';
    if (order === again || text.length > maxEntryLength || /[。；]\s*$/.test(text)) break;
    if (text.startsWith('#') && again < 0) break;
    entries.push(index);
  }
  return entries;
}

function repeatedRuns(
  lines: readonly MarkdownLine[],
  filled: readonly number[],
  keys: ReadonlyMap<number, string>,
): number[] {
  const lastSeen = new Map<string, number>();
  for (const index of filled) lastSeen.set(keys.get(index) ?? '', index);
  const runs: number[][] = [];
  let run: number[] = [];
  for (const index of filled) {
    if (readDivision(lines[index]?.text.replace(/^[\s#*_]+/, '') ?? '') !== null) {
      run.push(index);
    } else {
      runs.push(run);
      run = [];
    }
  }
  return runs.filter((entries) => entries.length >= 3 && comesAgain(entries, keys, lastSeen)).flat();
}

function comesAgain(
  entries: readonly number[],
  keys: ReadonlyMap<number, string>,
  lastSeen: ReadonlyMap<string, number>,
): boolean {
  const last = entries.at(-1) ?? 0;
  return (lastSeen.get(keys.get(entries[0] ?? -1) ?? '') ?? 0) > last;
}
