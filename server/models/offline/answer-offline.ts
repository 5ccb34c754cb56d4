import { isChinese } from '../../text/language.ts';
import type { ModelTask } from '../chat-model.ts';
import { type Candidate, type ContentWords, type Coverage, coverParts } from './coverage.ts';
import { splitQuestion } from './question-parts.ts';

/** Quotes a part gets at most, and how near to the best the others must be. */
const MAX_QUOTES = 2;
const NEAR_BEST = 0.8;
/** Below this share a sentence is not even near to what an uncovered part asks. */
const MIN_NEAR_SHARE = 0.5;

const TEXTS = {
  zh: {
    missing: (part: string) => `资料中没有找到可以回答“${part}”的内容，这一点无法核实。`,
    nothing: '资料中没有找到与这个问题有关的内容，无法核实，因此不作回答。',
    nearest: '最接近的内容是：',
  },
  en: {
    missing: (part: string) => `The documents do not say: “${part}” This cannot be verified.`,
    nothing: 'The documents hold nothing on this question, so it cannot be answered or verified.',
    nearest: ' The nearest passage is:',
  },
} as const;

/** Whether a sentence is one of the fixed phrases that lead to a quote: nothing that an answer says. */
export function leadsToQuote(sentence: string): boolean {
  const bare = sentence.trim();
  return Object.values(TEXTS).some(({ nearest }) => bare === nearest.trim());
}

/**
 * Answers by quoting, part by part, with the passages' numbers; says what was not found. Returns the answer
 * in pieces, to be joined without anything between. Nothing in it but quotes, the asker's own words and
 * the fixed phrases above.
 */
export function answerOffline(task: Extract<ModelTask, { kind: 'answer' }>, words: ContentWords): string[] {
  const texts = isChinese(task.question) ? TEXTS.zh : TEXTS.en;
  const parts = splitQuestion(task.question);
  const coverages = coverParts({ question: task.question, parts, passages: task.passages }, words);
  const blocks = coverages.map((coverage) => partBlock(coverage, texts));
  // One part is the question itself: said back in the user's own words, not in those it was searched by.
  const [only] = blocks;
  if (only && blocks.length === 1) only.note = only.note.replace(only.part, () => task.asked);
  if (blocks.length === 0 || blocks.every((block) => block.quotes.length === 0)) return [texts.nothing];
  return blocks.flatMap((block, index) => [
    ...(index > 0 ? ['\n\n'] : []),
    ...(blocks.length > 1 ? [`**${block.part}**\n\n`] : []),
    ...(block.note === '' ? [] : [block.note, ...(block.quotes.length > 0 ? ['\n\n'] : [])]),
    ...block.quotes.flatMap((quote, place) => (place > 0 ? ['\n\n', quote] : [quote])),
  ]);
}

interface Block {
  part: string;
  note: string;
  quotes: string[];
}

function partBlock({ part, covered, candidates }: Coverage, texts: (typeof TEXTS)['zh' | 'en']): Block {
  const quote = ({ n, quote: pieces }: Candidate) => `${pieces.map((piece) => `“${oneLine(piece)}”`).join(' ')} [${n}]`;
  if (covered) return { part, note: '', quotes: pickQuotes(candidates).map(quote) };
  const nearest = candidates.find((candidate) => candidate.sentenceShare >= MIN_NEAR_SHARE);
  if (!nearest) return { part, note: texts.missing(part), quotes: [] };
  return { part, note: `${texts.missing(part)}${texts.nearest}`, quotes: [quote(nearest)] };
}

/** The best sentence, and another that is nearly as good, touches as much of the question, and says something else. */
function pickQuotes(candidates: readonly Candidate[]): Candidate[] {
  const [best] = candidates;
  if (!best) return [];
  const picked = [best];
  for (const candidate of candidates) {
    if (picked.length >= MAX_QUOTES || candidate.score < best.score * NEAR_BEST) break;
    if (candidate.sentenceShare < best.sentenceShare) continue;
    if (picked.every((other) => !alike(other.sentence, candidate.sentence))) picked.push(candidate);
  }
  return picked;
}

/** Shares most of its character pairs: the same rule in another document, or the same sentence again. */
function alike(a: string, b: string): boolean {
  const left = characterPairs(a);
  const right = characterPairs(b);
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return shared >= 0.6 * Math.min(left.size, right.size);
}

function characterPairs(text: string): Set<string> {
  const plain = text.replace(/[\s\p{P}]+/gu, '');
  return new Set(Array.from({ length: Math.max(1, plain.length - 1) }, (_, index) => plain.slice(index, index + 2)));
}

/** On one line; a `[3]` of the document's own must not look like one of our citations. */
function oneLine(text: string): string {
  return text
    .replace(/[[【](\s*\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\s*)[\]】]/g, '($1)')
    .replace(/\s+/g, ' ')
    .trim();
}
