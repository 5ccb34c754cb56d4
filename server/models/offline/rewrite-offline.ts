import type { ModelTask } from '../chat-model.ts';
import type { ContentWords } from './coverage.ts';

const REFERS_BACK =
  /^(?:那|那么|如果|要是|假如|还有)|它|他们|她|这(?:个|种|些|项|条|部|时|样)|那(?:个|种|些|项|条|部|样)|其(?!他|它|中|余)|上述|前者|后者|该|呢[？?]?$|\b(?:it|its|they|them|their|that|those|these|this|he|she|his|her)\b|^(?:and|what about|how about)\b/iu;

/** A question with fewer content words than this leans on what was said before. */
const FEW_WORDS = 3;
const MAX_CARRIED = 4;

/**
 * Carries the subject of the last question over to a follow-up that refers back or says little; any other
 * question stays as it is, since glued-on history makes a search worse.
 */
export function rewriteOffline(task: Extract<ModelTask, { kind: 'rewrite' }>, words: ContentWords): string {
  const own = words(task.question);
  if (own.length >= FEW_WORDS && !REFERS_BACK.test(task.question.trim())) return task.question;
  const previous = task.rounds.at(-1)?.question ?? task.summary;
  const carried = subjectOf(previous, words).filter((term) => !task.question.includes(term));
  return carried.length === 0 ? task.question : `${carried.join(' ')} ${task.question}`;
}

/** Named works and codes first, then the longest words, in the order they were said. */
function subjectOf(text: string, words: ContentWords): string[] {
  const named = [...text.matchAll(/《[^》]{2,40}》|[A-Z][A-Za-z0-9]*(?:[-/ ][A-Z0-9][A-Za-z0-9.-]*)+/gu)].map(
    (match) => match[0],
  );
  const said = [...new Set(words(text))].filter((word) => !named.some((name) => name.includes(word)));
  const longest = [...said].sort((a, b) => b.length - a.length).slice(0, MAX_CARRIED);
  return [...named, ...said.filter((word) => longest.includes(word))].slice(0, MAX_CARRIED);
}
