import { cutPassages, isBlank, trimBlankLines } from './cut-passages.ts';
import { safeCut } from './cut-text.ts';
import { findHeadingLevels } from './find-headings.ts';
import { splitByHeadings, type TitledBlock } from './heading-tree.ts';
import type { SplitParagraph } from './split-document.ts';
import { readArticleStart } from './statute-lines.ts';

/** Long enough for a complete thought, short enough that several fit the evidence budget of a question. */
const passageLimit = 1200;

/** An article is cited as a whole. Of 58,913 articles of 1,351 statutes the longest has 3,846 characters. */
const articleLimit = 8000;

const maxTitleLength = 255;

/**
 * Splits a markdown text into the paragraphs that folders are indexed by: the sections of its headings, cut to about
 * 1,200 characters at sentence or line ends; in Chinese statutes every article (第…条) is one paragraph.
 *
 * Returns non-blank paragraphs in the order of the text. `title`: the headings above, outermost first, joined by single
 * spaces, at most 255 UTF-16 units; headings that do not fit begin the content. `content`: the text as it is, without
 * blank lines at its ends; the header of a table that had to be cut is repeated. No text is lost; never throws.
 */
export function splitParagraphs(markdown: string): SplitParagraph[] {
  const text = markdown.replace(/\r\n?/g, '\n').replaceAll('\0', '');
  const levels = findHeadingLevels(text);
  const blocks = splitByHeadings(text, { levels, splitsInnerPreambles: true }).map((block) => ({
    titles: block.titles.map(cleanHeading).filter((title) => title !== ''),
    text: block.text,
  }));
  return blocks.flatMap((block, index) => {
    if (!isBlank(block.text)) return toParagraphs(block);
    // The headings below a heading carry its text on; a heading with nothing below it becomes a text of its own.
    const heading = block.titles.at(-1);
    if (heading === undefined || isAbove(block, blocks[index + 1])) return [];
    return toParagraphs({ titles: block.titles.slice(0, -1), text: heading });
  });
}

function toParagraphs(block: TitledBlock): SplitParagraph[] {
  const { title, overflow } = fitTitle(block.titles);
  const isArticle = readArticleStart(block.titles.at(-1) ?? '') !== null;
  const body = isArticle ? block.text.trimStart() : block.text;
  const text = overflow === '' ? body : `${overflow}\n\n${trimBlankLines(body)}`;
  return cutPassages(text, isArticle ? articleLimit : passageLimit).map((content) => ({ title, content }));
}

/** The innermost headings say most: when not all fit, the outer ones move into the content. */
function fitTitle(titles: readonly string[]): { title: string; overflow: string } {
  const whole = titles.join(' ');
  if (whole.length <= maxTitleLength) return { title: whole, overflow: '' };
  let kept = titles.length;
  while (kept > 0 && titles.slice(kept - 1).join(' ').length <= maxTitleLength) kept -= 1;
  if (kept < titles.length) return { title: titles.slice(kept).join(' '), overflow: titles.slice(0, kept).join('\n') };
  const last = titles.at(-1) ?? '';
  const cut = safeCut(last, maxTitleLength);
  return { title: last.slice(0, cut), overflow: [...titles.slice(0, -1), last.slice(cut)].join('\n') };
}

function isAbove(block: TitledBlock, next: TitledBlock | undefined): boolean {
  return next !== undefined && block.titles.every((title, index) => title === next.titles[index]);
}

function cleanHeading(heading: string): string {
  const plain = heading
    .replace(/^\s*#{1,6}(?=\s)|\s#+\s*$|\n *(?:=+|-{3,})\s*$/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|__|`/g, '')
    .replace(/[\s\u200b]+/g, ' ')
    .trim();
  return joinSpacedCharacters(plain);
}

/** Statutes are typeset "第二章 管 辖", which a search for 管辖 would miss. */
function joinSpacedCharacters(heading: string): string {
  return heading.replace(/(?<=^| )\p{Script=Han}(?: \p{Script=Han})+(?= |$)/gu, (letters) =>
    letters.replaceAll(' ', ''),
  );
}
