import { clipToTokens, countTokens } from '../tokens.ts';
import { statementWorth } from './statement-worth.ts';
import { EARLIER_MARKS, renderSummary, SECTIONS, type SummarySection } from './summary-form.ts';
import type { SummaryItem } from './supersede.ts';

/** What of the user outlasts what was answered; within a section the worth of a line and then its age decide. */
const SECTION_RANK: Readonly<Record<SummarySection, number>> = {
  correction: 40,
  open: 36,
  user: 30,
  source: 32,
  assistant: 10,
};

/**
 * The lines that fit, in the order they were said. Answers go first, then what says least and is oldest; what people
 * stated and corrected goes last. Never more than `maxTokens` tokens; '' only where not even a piece of a line fits.
 */
export function chooseLines(
  items: readonly SummaryItem[],
  { maxTokens, language }: { maxTokens: number; language: 'zh' | 'en' },
): string {
  const ranked = items
    .map((item) => ({
      item,
      rank:
        SECTION_RANK[item.section] +
        Math.min(statementWorth(item.statement, item.section === 'assistant' ? 'assistant' : 'user'), 14),
    }))
    .sort((a, b) => b.rank - a.rank || b.item.place - a.item.place)
    .map(({ item }) => item);
  const chosen: SummaryItem[] = [];
  const headed = new Set<SummarySection>();
  let left = maxTokens;
  for (const item of ranked) {
    const cost = lineCost(item) + (headed.has(item.section) ? 0 : headingCost(item.section, language));
    if (cost > left) continue;
    chosen.push(item);
    headed.add(item.section);
    left -= cost;
  }
  for (; chosen.length > 0; chosen.pop()) {
    const text = render(chosen, language);
    if (countTokens(text) <= maxTokens) return text;
  }
  return clipToTokens(ranked[0]?.statement.text ?? '', maxTokens, '…');
}

function render(items: readonly SummaryItem[], language: 'zh' | 'en'): string {
  const inOrder = [...items].sort((a, b) => a.place - b.place);
  return renderSummary(
    inOrder.map(({ section, statement, isEarlier }) => ({ section, text: statement.text, isEarlier })),
    language,
  );
}

const lineCosts = new WeakMap<SummaryItem, number>();

function lineCost(item: SummaryItem): number {
  const mark = item.isEarlier ? EARLIER_MARKS.zh : '';
  const known = lineCosts.get(item) ?? countTokens(`- ${mark}${item.statement.text}\n`);
  lineCosts.set(item, known);
  return known;
}

const headingCosts = new Map<string, number>();

function headingCost(section: SummarySection, language: 'zh' | 'en'): number {
  for (const name of SECTIONS) {
    const key = `${language}${name}`;
    if (name === section && !headingCosts.has(key)) {
      const line = renderSummary([{ section, text: '', isEarlier: false }], language).replace(/- $/, '');
      headingCosts.set(key, countTokens(line) + 1);
    }
  }
  return headingCosts.get(`${language}${section}`) ?? 0;
}
