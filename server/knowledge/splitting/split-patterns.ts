const headingPatterns = [
  '(?<=^)# .*|(?<=\\n)# .*',
  ...[2, 3, 4, 5, 6].map((level) => {
    const marks = '#'.repeat(level);
    return `(?<=\\n)(?<!#)${marks} (?!#).*|(?<=^)(?<!#)${marks} (?!#).*`;
  }),
];

/** The six markdown heading patterns, level 1 first: what an upload without own patterns is split by. */
export const markdownHeadingPatterns: readonly string[] = headingPatterns;

/**
 * The patterns offered to users, in the order the interface lists them. `key`: the heading mark itself, or an English
 * word that the route translates; `value`: the source of a regular expression without flags, sent back as it is.
 */
export const splitPatterns: readonly { readonly key: string; readonly value: string }[] = [
  ...headingPatterns.map((value, index) => ({ key: '#'.repeat(index + 1), value })),
  { key: '-', value: '(?<! )- .*' },
  { key: 'space', value: '(?<! ) (?! )' },
  { key: 'semicolon', value: '(?<!；)；(?!；)' },
  { key: 'comma', value: '(?<!，)，(?!，)' },
  { key: 'period', value: '(?<!。)。(?!。)' },
  { key: 'enter', value: '(?<!\\n)\\n(?!\\n)' },
  { key: 'blank line', value: '(?<!\\n)\\n\\n(?!\\n)' },
];
