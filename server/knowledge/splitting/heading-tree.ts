/** Where a heading stands inside the section that was searched. Offsets are UTF-16 units, `end` exclusive. */
export interface HeadingMatch {
  readonly start: number;
  readonly end: number;
}

/** Part of the text: `start` is its offset in the whole text. */
export interface Section {
  readonly text: string;
  readonly start: number;
}

/** Finds the headings of one level in a section: in order, not overlapping; an empty list when there are none. */
export type HeadingLevel = (section: Section) => readonly HeadingMatch[];

/** Text between two headings. `titles`: the raw texts of the headings above it, outermost first. */
export interface TitledBlock {
  readonly titles: readonly string[];
  readonly text: string;
}

interface WalkOptions {
  readonly levels: readonly HeadingLevel[];
  /** Whether text in front of a section's first heading is searched for deeper headings; the top level always is. */
  readonly splitsInnerPreambles: boolean;
}

/**
 * Cuts `text` into the blocks between its headings. Both the MaxKB-compatible splitter and the one for folders use it;
 * they differ in how headings are found and in what is done with the blocks.
 *
 * Returns blocks in the order of the text, blank ones included (a heading directly followed by a deeper heading gives
 * one); headings are not part of any block's text. Every character is in exactly one block or one heading. Throws what
 * the levels throw.
 */
export function splitByHeadings(text: string, options: WalkOptions): TitledBlock[] {
  const blocks: TitledBlock[] = [];
  walk({ text, start: 0 }, 0, [], options, blocks);
  return blocks;
}

function walk(
  section: Section,
  depth: number,
  titles: readonly string[],
  options: WalkOptions,
  blocks: TitledBlock[],
): void {
  const headings = firstLevelWithHeadings(section, options.levels.slice(depth));
  const first = headings[0];
  if (!first) {
    blocks.push({ titles, text: section.text });
    return;
  }
  const preamble = { text: section.text.slice(0, first.start), start: section.start };
  if (preamble.text !== '') {
    // MaxKB gives the top-level preamble a heading of its own, an empty one: seen as an extra space in golden titles.
    if (depth === 0) walk(preamble, depth + 1, [''], options, blocks);
    else if (options.splitsInnerPreambles) walk(preamble, depth + 1, titles, options, blocks);
    else blocks.push({ titles, text: preamble.text });
  }
  headings.forEach((heading, index) => {
    const end = headings[index + 1]?.start ?? section.text.length;
    const body = { text: section.text.slice(heading.end, end), start: section.start + heading.end };
    const title = section.text.slice(heading.start, heading.end);
    // A level that was skipped because nothing matched still counts: MaxKB goes on with the pattern after the
    // current one, not after the one that matched.
    walk(body, depth + 1, [...titles, title], options, blocks);
  });
}

function firstLevelWithHeadings(section: Section, levels: readonly HeadingLevel[]): readonly HeadingMatch[] {
  for (const level of levels) {
    const headings = level(section);
    if (headings.length > 0) return headings;
  }
  return [];
}
