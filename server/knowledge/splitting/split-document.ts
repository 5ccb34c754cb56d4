import { cutEvery, linesOf, safeCut } from './cut-text.ts';
import { splitByHeadings } from './heading-tree.ts';
import { levelsFromPatterns } from './pattern-levels.ts';
import { markdownHeadingPatterns } from './split-patterns.ts';

/** What becomes one paragraph of the knowledge base. `title`: at most 255 UTF-16 units, may be empty. */
export interface SplitParagraph {
  title: string;
  content: string;
}

export interface SplitOptions {
  /** Heading levels, outermost first; the six markdown ones when left out. */
  patterns?: readonly (string | RegExp)[];
  /** Characters of a block; clamped to 50–100,000, 4,096 when left out. */
  limit?: number;
  /** Whether to collapse spaces and newlines and to remove `#` and tabs in contents. */
  withFilter?: boolean;
}

const defaultLimit = 4096;
const minLimit = 50;
const maxLimit = 100_000;
const maxTitleLength = 255;

interface Block {
  rawTitle: string;
  title: string;
  content: string;
}

/**
 * Splits a document the way MaxKB v1 does, so that a dataset moved over keeps its paragraphs. Titles keep the space that
 * follows the heading mark; fenced code is not special.
 *
 * Returns non-blank paragraphs in the order of the text. Throws SplitPatternError for a pattern that is not a regular
 * expression or that takes more than 2 s. Source: maxkb-v1-api.md §7.1, golden-vectors.json "split".
 */
export function splitDocument(text: string, options: SplitOptions = {}): SplitParagraph[] {
  const limit = clampLimit(options.limit);
  const normalised = text.replace(/\r\n?/g, '\n').replaceAll('\0', '');
  const levels = levelsFromPatterns(options.patterns ?? markdownHeadingPatterns);
  const blocks = splitByHeadings(normalised, { levels, splitsInnerPreambles: false }).flatMap((block) => {
    const rawTitle = block.titles.filter((title) => title !== '').join(' ');
    const title = cleanTitle(block.titles.join(' '));
    const pieces = block.text === '' ? [''] : cutByLimit(block.text, limit);
    return pieces.map((piece) => moveLongTitle({ rawTitle, title, content: piece }));
  });
  const filtered = options.withFilter
    ? blocks.map((block) => ({ ...block, rawTitle: filterText(block.rawTitle), content: filterText(block.content) }))
    : blocks;
  return keepTitlesOfBlankBlocks(filtered).filter((paragraph) => paragraph.content.trim() !== '');
}

function clampLimit(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return defaultLimit;
  if (limit > maxLimit) return maxLimit;
  return Math.max(minLimit, Math.floor(limit));
}

function cutByLimit(text: string, limit: number): string[] {
  const blocks: string[] = [];
  let block = '';
  for (const line of linesOf(text)) {
    if (block !== '' && block.length + line.length > limit) {
      blocks.push(block);
      block = '';
    }
    block += line;
  }
  blocks.push(block);
  return blocks.flatMap((part) => cutEvery(part, limit));
}

function cleanTitle(title: string): string {
  return title.replace(/#|\n|\r|\\s/g, '');
}

function moveLongTitle(block: Block): Block {
  if (block.title.length <= maxTitleLength) return block;
  const cut = safeCut(block.title, maxTitleLength);
  return { ...block, title: block.title.slice(0, cut), content: block.title.slice(cut) + block.content };
}

function filterText(text: string): string {
  return text.replace(/\n+/g, '\n').replace(/ +/g, ' ').replace(/#+/g, '').replaceAll('\t', '');
}

/** A heading without text must not vanish: unless another paragraph's title holds it, it becomes a content itself. */
function keepTitlesOfBlankBlocks(blocks: readonly Block[]): SplitParagraph[] {
  const isHeld = holdsTitle(blocks);
  return blocks.map(({ rawTitle, title, content }) => {
    if (content.trim() !== '' || title.trim() === '') return { title, content };
    return { title: '', content: isHeld(title) ? '' : rawTitle };
  });
}

/** Beyond this many titles only beginnings are compared: a full search is quadratic (20,000 titles took 2.9 s). */
const maxSearchedTitles = 5000;

/** Answers whether a title is inside a title of another block. */
function holdsTitle(blocks: readonly Block[]): (title: string) => boolean {
  const counts = new Map<string, number>();
  for (const { title } of blocks) counts.set(title, (counts.get(title) ?? 0) + 1);
  const sorted = [...counts.keys()].sort();
  const positions = new Map(sorted.map((title, index) => [title, index]));
  // One search in the joined text instead of one per title.
  const joined = sorted.length <= maxSearchedTitles ? sorted.join('\n') : '';
  return (title) => {
    if ((counts.get(title) ?? 0) > 1) return true;
    if (sorted[(positions.get(title) ?? 0) + 1]?.startsWith(title)) return true;
    const first = joined.indexOf(title);
    return first >= 0 && joined.indexOf(title, first + 1) >= 0;
  };
}
