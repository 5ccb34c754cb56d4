import { splitSentences } from '../../text/sentences.ts';

/** Where a line of a summary stands. What people stated and what was answered to them never share a section (R47). */
export type SummarySection = 'user' | 'correction' | 'open' | 'source' | 'assistant';

/** `isEarlier`: something said later may have corrected it; nobody can tell from the words, and the line says so. */
export interface SummaryLine {
  section: SummarySection;
  text: string;
  isEarlier: boolean;
}

/** Stands before a line that may be true no more. */
export const EARLIER_MARKS = { zh: '（早先所述，或已更正）', en: '(earlier, perhaps corrected since) ' } as const;

export const SECTIONS: readonly SummarySection[] = ['user', 'correction', 'open', 'source', 'assistant'];

export const HEADINGS: Readonly<Record<'zh' | 'en', Readonly<Record<SummarySection, string>>>> = {
  zh: { user: '用户所述：', correction: '更正：', open: '未决问题：', source: '来源：', assistant: '助手所答：' },
  en: {
    user: 'User stated:',
    correction: 'Corrections:',
    open: 'Open questions:',
    source: 'Sources:',
    assistant: 'Assistant answered:',
  },
};

/** Words by which the headings of other summaries say what stands below them; the first that fits counts. */
const HEADING_WORDS: readonly (readonly [RegExp, SummarySection])[] = [
  [/更正|纠正|变更|correction|corrected|change/i, 'correction'],
  [/未决|待定|待办|待确认|未解|open|pending|unresolved|outstanding/i, 'open'],
  [/来源|引用|出处|source|citation|reference/i, 'source'],
  [/助手|回答|答复|assistant|answer/i, 'assistant'],
];
const HEADING = /^\s*(?:#{1,6}\s*)?(?:\*\*)?([^。！？.!?：:]{1,40}?)(?:\*\*)?[：:]?(?:\*\*)?\s*$/u;
/** In prose: who it was that said it. */
const ASSISTANT = /^(?:助手|助理|AI|系统(?:回答|答复)|The assistant|Assistant)\b|^(?:助手|助理)/u;
const BULLET = /^\s*(?:[-*•·–]\s+|\d{1,3}[.)、]\s*)/u;

/** Writes a summary: a heading for each section that has lines, one line an item. Parsed back by `parseSummary`. */
export function renderSummary(lines: readonly SummaryLine[], language: 'zh' | 'en'): string {
  return SECTIONS.flatMap((section) => {
    const own = lines.filter((line) => line.section === section);
    return own.length === 0
      ? []
      : [
          HEADINGS[language][section],
          ...own.map((line) => `- ${line.isEarlier ? EARLIER_MARKS[language] : ''}${line.text}`),
        ];
  }).join('\n');
}

/**
 * Reads a summary, our own form or any other: a line that looks like a heading names the section of those below it, and
 * a line without any heading above is the user's. Never throws.
 */
export function parseSummary(summary: string): SummaryLine[] {
  let section: SummarySection = 'user';
  const lines: SummaryLine[] = [];
  const add = (where: SummarySection, text: string) => {
    const marked = asLine(text);
    const mark = Object.values(EARLIER_MARKS).find((one) => marked.startsWith(one.trim()));
    const line = mark === undefined ? marked : marked.slice(mark.trim().length).trim();
    if (line !== '') lines.push({ section: where, text: line, isEarlier: mark !== undefined });
  };
  for (const raw of summary.split(/\r?\n/)) {
    if (raw.trim() === '') continue;
    const heading = sectionOfHeading(raw);
    if (heading !== null) {
      section = heading;
      continue;
    }
    if (BULLET.test(raw)) add(section, raw.replace(BULLET, ''));
    else for (const { text } of splitSentences(raw)) add(ASSISTANT.test(text) ? 'assistant' : section, text);
  }
  return lines;
}

/** On one line, without what would make it look like a heading or an item inside an item. */
export function asLine(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/^(?:[-*•·#>]+\s+)+/u, '')
    .replace(/\*\*|__/g, '')
    .trim();
  return line;
}

function sectionOfHeading(raw: string): SummarySection | null {
  if (BULLET.test(raw)) return null;
  const isMarked = /^\s*(?:#{1,6}\s|\*\*)/.test(raw) || /[：:]\s*(?:\*\*)?\s*$/.test(raw);
  const name = isMarked ? HEADING.exec(raw)?.[1] : undefined;
  if (name === undefined) return null;
  return HEADING_WORDS.find(([words]) => words.test(name))?.[1] ?? 'user';
}
