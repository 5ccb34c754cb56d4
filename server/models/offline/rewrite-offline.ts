import type { ModelTask } from '../chat-model.ts';
import { isAskingWord } from './asking-words.ts';
import type { ContentWords } from './coverage.ts';
import { writtenTerms } from './written-terms.ts';

const REFERS_BACK =
  /它|他们|她|这(?:个|种|些|项|条|部|时|样)|那(?:个|种|些|项|条|部|样)|其(?!他|它|中|余)|上述|前者|后者|该|\b(?:it|its|they|them|their|that|those|these|this|he|she|his|her)\b/iu;
/** Openings and endings of a follow-up: it needs more words of its own to stand alone. */
const FOLLOWS_UP = /^(?:那么?|如果|要是|还有)|呢[？?]?$/u;
const COURTESY = /^(?:谢谢|多谢|好的|好|你好|您好|再见|thanks?(?: you)?|ok(?:ay)?|hello|hi|bye)[\s!！。.~～]*$/iu;
const ARTICLE = /第[\d〇零一二三四五六七八九十百千两]+条/u;

/** A question with fewer content words than this leans on what was said before; English says a thing in two. */
const FEW_WORDS = { zh: 3, en: 2 } as const;
const MAX_CARRIED = 4;

/**
 * Carries the subject of the last question over to a follow-up that refers back or says little; any other
 * question stays as it is, since glued-on history makes a search worse. What the follow-up puts in the place
 * of something (another article, another kind of case) is not carried.
 */
export function rewriteOffline(task: Extract<ModelTask, { kind: 'rewrite' }>, words: ContentWords): string {
  const question = task.question.trim();
  const own = writtenTerms(question, words).filter((word) => !isAskingWord(word.toLowerCase()));
  const few = /\p{Script=Han}/u.test(question) ? FEW_WORDS.zh : FEW_WORDS.en;
  const enough = FOLLOWS_UP.test(question) ? few + 1 : few;
  if (COURTESY.test(question) || (own.length >= enough && !REFERS_BACK.test(question))) return task.question;
  const previous = task.rounds.at(-1)?.question ?? task.summary;
  const carried = subjectOf(previous, words)
    .filter((term) => !question.includes(term))
    .filter((term) => !own.some((word) => isReplacedBy(term, word)))
    .filter((term) => !(ARTICLE.test(question) && ARTICLE.test(term)));
  return carried.length === 0 ? task.question : `${carried.join(' ')} ${task.question}`;
}

/** Named works, articles and codes first, then the longest words, in the order they were said. */
function subjectOf(text: string, words: ContentWords): string[] {
  const named = [
    ...text.matchAll(
      /《[^》]{2,40}》|第[\d〇零一二三四五六七八九十百千两]+条|[A-Z][A-Za-z0-9]*(?:[-/ ][A-Z0-9][A-Za-z0-9.-]*)+/gu,
    ),
  ].map((match) => match[0]);
  const said = writtenTerms(text, words).filter(
    (word) =>
      !named.some((name) => name.includes(word)) &&
      !isAskingWord(words(word)[0] ?? word) &&
      !/^\p{Script=Han}$/u.test(word),
  );
  const longest = [...said].sort((a, b) => b.length - a.length).slice(0, MAX_CARRIED);
  return [...new Set([...said.filter((word) => longest.includes(word)), ...named])].slice(0, MAX_CARRIED);
}

/** 行政复议 gives way to 行政诉讼: the same beginning or end, something else in its place. */
function isReplacedBy(term: string, word: string): boolean {
  if (term === word || term.length < 3 || word.length < 3) return false;
  return term.slice(0, 2) === word.slice(0, 2) || term.slice(-2) === word.slice(-2);
}
