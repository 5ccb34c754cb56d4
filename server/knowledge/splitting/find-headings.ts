import { findContentsLines } from './contents-list.ts';
import type { HeadingLevel, HeadingMatch, Section } from './heading-tree.ts';
import { findMarkdownHeadings, type MarkdownHeading, type MarkdownLine, readMarkdownLines } from './markdown-lines.ts';
import { type ArticleStart, readArticleStart, readDivision, statuteDivisions } from './statute-lines.ts';

/** `rank` orders levels, lower is further out: markdown levels are 1–6, the divisions of a statute come below them. */
interface RankedHeading extends HeadingMatch {
  readonly rank: number;
}

/** A heading line, or a line that stands alone, that names a division of a statute or begins an article. */
interface StatuteHeading extends RankedHeading {
  /** The level when the line is a markdown heading as well. */
  readonly markdownLevel: number | null;
}

const firstDivisionRank = 10;
const articleRank = firstDivisionRank + statuteDivisions.indexOf('条');
const chapterRank = firstDivisionRank + statuteDivisions.indexOf('章');
const minArticles = 3;
/** Of the lines with text; statutes have 15–45 %, a report that quotes three articles has far less. */
const minArticleShare = 0.08;
const minDivisions = 3;

const appendixLine = /^\s*附\s*(?:件|录|表|则)(?:[\s一二三四五六七八九十\d：:]|$)/;

/**
 * Finds the levels of headings of a markdown text: its own headings and, when it is a statute or regulation (many lines
 * begin with 第…条), books, chapters, sections and articles that stand on lines of their own. Headings in fenced code
 * and entries of a table of contents do not count. Returns levels for splitByHeadings, outermost first. Never throws.
 */
export function findHeadingLevels(text: string): HeadingLevel[] {
  const lines = readMarkdownLines(text);
  const markdown = findMarkdownHeadings(lines);
  const statute = findStatuteHeadings(lines, markdown);
  const headings = statute.length > 0 ? mergeHeadings(markdown, statute) : markdown.map(byMarkdownLevel);
  const ranks = [...new Set(headings.map((heading) => heading.rank))].sort((a, b) => a - b);
  return ranks.map((rank) => levelOf(headings.filter((heading) => heading.rank === rank)));
}

function byMarkdownLevel({ start, end, level }: MarkdownHeading): RankedHeading {
  return { start, end, rank: level };
}

/** `headings` are sorted; a section looks up its own by bisection, so that thousands of articles stay cheap. */
function levelOf(headings: readonly RankedHeading[]): HeadingLevel {
  return ({ text, start }: Section) => {
    const found: HeadingMatch[] = [];
    for (let index = firstFrom(headings, start); index < headings.length; index += 1) {
      const heading = headings[index];
      if (!heading || heading.start >= start + text.length) break;
      found.push({ start: heading.start - start, end: heading.end - start });
    }
    return found;
  };
}

function firstFrom(headings: readonly RankedHeading[], start: number): number {
  let low = 0;
  let high = headings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((headings[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findStatuteHeadings(lines: readonly MarkdownLine[], markdown: readonly MarkdownHeading[]): StatuteHeading[] {
  const contents = findContentsLines(lines);
  const levels = new Map(markdown.map((heading) => [heading.start, heading.level]));
  const found: StatuteHeading[] = [];
  let previous = 0;
  lines.forEach((line, index) => {
    if (line.isCode || contents.has(index) || line.text.trim() === '') return;
    const markdownLevel = levels.get(line.start) ?? null;
    const marks = markdownLevel === null ? 0 : (/^[\s#]*/.exec(line.text)?.[0].length ?? 0);
    const bare = line.text.slice(marks);
    const article = readArticleStart(bare);
    if (article && beginsArticle(article, previous)) {
      previous = article.number;
      found.push({ start: line.start, end: line.start + marks + article.length, rank: articleRank, markdownLevel });
      return;
    }
    const division = readDivision(bare);
    const isAppendix = previous > 0 && bare.length <= 40 && !bare.endsWith('。') && appendixLine.test(bare);
    if (!division && !isAppendix) return;
    const rank = division ? firstDivisionRank + statuteDivisions.indexOf(division) : chapterRank;
    found.push({ start: line.start, end: line.end, rank, markdownLevel });
  });
  return isStatute(found, lines, markdown) ? found : [];
}

/** A line may also begin with a mere reference ("第十条规定的…", "第三条、第四条 …"), most often in wrapped text. */
function beginsArticle(article: ArticleStart, previous: number): boolean {
  if (/^(?:规定|所|的|第[^条\s]{1,6}[款项])/.test(article.rest)) return false;
  if (article.isSeparated) return true;
  const isNext = article.number === previous + 1 || (article.isInserted && article.number === previous);
  return isNext && !/^[、，,至和与及或中第]/.test(article.rest);
}

function isStatute(
  found: readonly StatuteHeading[],
  lines: readonly MarkdownLine[],
  markdown: readonly MarkdownHeading[],
): boolean {
  const articles = found.filter((heading) => heading.rank === articleRank).length;
  const filled = lines.filter((line) => line.text.trim() !== '').length;
  if (articles >= minArticles && articles >= filled * minArticleShare) return true;
  // A book without markdown: its chapters are better than none.
  return markdown.length === 0 && articles === 0 && found.length >= minDivisions;
}

/** Puts markdown headings that name no division where they belong among those that do. */
function mergeHeadings(
  markdown: readonly MarkdownHeading[],
  statute: readonly StatuteHeading[],
): readonly RankedHeading[] {
  const taken = new Set(statute.map((heading) => heading.start));
  const rankOfLevel = new Map<number, number>();
  for (const { markdownLevel, rank } of statute) {
    if (markdownLevel === null) continue;
    rankOfLevel.set(markdownLevel, Math.min(rank, rankOfLevel.get(markdownLevel) ?? rank));
  }
  const firstStart = statute[0]?.start ?? 0;
  const others = markdown
    .filter((heading) => !taken.has(heading.start))
    .map((heading, index) => {
      // The name of the statute is often marked with the same level as its chapters.
      const isName = index === 0 && heading.start < firstStart && rankOfLevel.has(heading.level);
      const rank = isName ? 0 : rankAmongDivisions(heading.level, rankOfLevel);
      return { start: heading.start, end: heading.end, rank };
    });
  return [...others, ...statute].sort((a, b) => a.start - b.start);
}

function rankAmongDivisions(level: number, rankOfLevel: ReadonlyMap<number, number>): number {
  const outer = [...rankOfLevel.keys()].filter((known) => known <= level);
  if (outer.length === 0) return level;
  const nearest = Math.max(...outer);
  return (rankOfLevel.get(nearest) ?? 0) + (level - nearest) / 10;
}
