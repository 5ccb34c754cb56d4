import type { ChatMessage } from '../server/models/chat-model.ts';
import { EARLIER_MARKS } from '../server/models/offline/summary-form.ts';
import type { PlantedFact } from './planted-conversations.ts';

/**
 * `missing`: latest facts that no line of the prompt tells. `stale`: lines that give a superseded value as current.
 * `corrected`: such lines whose correction was not merged yet and stands in the recent rounds.
 */
export interface ContextCheck {
  found: number;
  total: number;
  missing: string[];
  stale: string[];
  corrected: string[];
  /** Lines with a superseded value that say of themselves that it may be one. */
  marked: string[];
  /** Latest facts that only a line tells which is marked so without need. */
  doubted: string[];
}

/**
 * Whether a prompt tells each latest fact: a line of the summary or a message of the recent rounds holds its value and
 * names all of its subject. Superseded values are looked for in the summary: a line with one must hold the latest value
 * too, or the mark of what may have been corrected. Words that mark it as replaced do not excuse it: `not A but B` is
 * wrong once it is C. A correction that stands in the rounds after the summary does.
 */
export function checkContext(
  facts: readonly PlantedFact[],
  prompt: { summary: string; recent: readonly ChatMessage[] },
): ContextCheck {
  const lines = prompt.summary.split('\n');
  const told = [...lines, ...prompt.recent.map((message) => message.content)].map((text) => text.toLowerCase());
  const missing = facts.filter((fact) => !told.some((text) => tells(text, fact))).map(describeFact);
  const recent = prompt.recent.map((message) => message.content.toLowerCase());
  const isRecent = (fact: PlantedFact) => recent.some((text) => tells(text, fact));
  const old = facts.filter((fact) => !isRecent(fact)).flatMap((fact) => staleLines(lines, fact));
  const stale = old.filter((line) => !isMarked(line));
  const plain = told.filter((text) => !isMarked(text));
  const doubted = facts
    .filter((fact) => told.some((text) => tells(text, fact)) && !plain.some((text) => tells(text, fact)))
    .map(describeFact);
  const corrected = facts.filter(isRecent).flatMap((fact) => staleLines(lines, fact));
  return {
    found: facts.length - missing.length,
    total: facts.length,
    missing,
    stale,
    corrected,
    marked: old.filter(isMarked),
    doubted,
  };
}

function isMarked(line: string): boolean {
  return Object.values(EARLIER_MARKS).some(
    (mark) => line.includes(mark.trim().toLowerCase()) || line.includes(mark.trim()),
  );
}

function tells(text: string, { subject, values }: PlantedFact): boolean {
  const latest = values.at(-1);
  return (latest === undefined || holds(text, latest)) && subject.every((word) => text.includes(word.toLowerCase()));
}

function staleLines(lines: readonly string[], { values }: PlantedFact): string[] {
  const latest = values.at(-1) ?? '';
  return lines.filter((line) => {
    const text = line.toLowerCase();
    return values.slice(0, -1).some((old) => holds(text, old)) && !holds(text, latest);
  });
}

/** A value as a whole: 120 people is not in 1,120 people. */
function holds(text: string, value: string): boolean {
  const plain = value.toLowerCase();
  for (let at = text.indexOf(plain); at >= 0; at = text.indexOf(plain, at + 1)) {
    const isCut = /^\d/.test(plain) && /[\d,.]/.test(text.charAt(at - 1));
    const isLonger = /\d$/.test(plain) && /\d/.test(text.charAt(at + plain.length));
    if (!isCut && !isLonger) return true;
  }
  return false;
}

function describeFact({ kind, subject, values }: PlantedFact): string {
  return `${kind}: ${[...subject, values.join(' > ')].filter(Boolean).join(' / ')}`;
}
