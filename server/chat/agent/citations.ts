import type { Citation } from '../../../contract/chat.ts';
import { numeralsToDigits } from '../../text/chinese-numerals.ts';
import { type Sentence, splitSentences } from '../../text/sentences.ts';
import type { Evidence } from './evidence.ts';

/** `[1]`, also `[1, 2]` and the full-width `【3】` that some models write. */
const MARKER = /[[【]\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*[\]】]/g;
/** What stands in quotation marks is the document's; a `[3]` in there is its own footnote. */
const QUOTED = /“[^”]*”/g;
/** The number of a list item counts the items, not anything in the source. */
const LIST_NUMBER = /^\s*(?:[-*•>]\s*)*(?:\d{1,3}[.、)）]\s*)?/;

const NEGATION =
  /\b(?:not|no|never|none|nor|neither|without|except|cannot)\b|n['’]t\b|[不未无非勿]\p{Script=Han}|禁止|没有|除外/giu;
const NUMBER = /\d+(?:[.,:/-]\d+)*%?/gu;

const MAX_QUOTE_CHARACTERS = 300;
/** A neighbour joins the quote when it shares this much of what the best sentence shares. */
const NEAR_BEST = 0.6;

/** A sentence of the answer and the numbers it cites. */
interface CitingSentence {
  text: string;
  numbers: number[];
}

/**
 * Ties the answer's markers to their paragraphs (R121), ascending by number: the quote is the part of the
 * paragraph that the citing sentences rest on. `verified` means that it stands in the paragraph and that
 * every number, date and negation of the citing sentences occurs there. Markers without evidence are left
 * out here; `unknownMarkers` lists them. Pure; never throws.
 */
export function buildCitations(answer: string, evidence: readonly Evidence[]): Citation[] {
  const sentences = citingSentences(answer);
  const byNumber = new Map(evidence.map((paragraph) => [paragraph.n, paragraph]));
  return citedNumbers(sentences).flatMap((n) => {
    const paragraph = byNumber.get(n);
    if (!paragraph) return [];
    const citing = sentences.filter((sentence) => sentence.numbers.includes(n)).map((sentence) => sentence.text);
    return [cite(paragraph, citing)];
  });
}

/** Numbers that the answer cites and the evidence does not have, ascending: a model that invents sources. */
export function unknownMarkers(answer: string, evidence: readonly Evidence[]): number[] {
  const known = new Set(evidence.map((paragraph) => paragraph.n));
  return citedNumbers(citingSentences(answer)).filter((n) => !known.has(n));
}

function citedNumbers(sentences: readonly CitingSentence[]): number[] {
  return [...new Set(sentences.flatMap((sentence) => sentence.numbers))].sort((a, b) => a - b);
}

function citingSentences(answer: string): CitingSentence[] {
  const found: CitingSentence[] = [];
  const own = answer.replace(QUOTED, (quote) => quote.replace(MARKER, ' '));
  for (const { text } of splitSentences(own)) {
    const numbers = [...text.matchAll(MARKER)].flatMap((match) => (match[1] ?? '').split(/[,，、]/).map(Number));
    const words = text.replace(MARKER, ' ').replace(LIST_NUMBER, '').trim();
    const previous = found.at(-1);
    // "… 六十日。[1]": markers behind the full stop belong to the sentence before them.
    if (/^[\s>*\-.。”]*$/.test(words) && previous) previous.numbers.push(...numbers);
    else found.push({ text: words, numbers });
  }
  return found.filter((sentence) => sentence.numbers.length > 0);
}

function cite(paragraph: Evidence, citing: readonly string[]): Citation {
  const { start, end } = bestQuote(paragraph.content, citing);
  const reason = doubt(paragraph, citing);
  return {
    n: paragraph.n,
    paragraph_id: paragraph.paragraphId,
    document_id: paragraph.documentId,
    document: paragraph.documentName,
    title: paragraph.title,
    quote: paragraph.content.slice(start, end),
    start,
    end,
    verified: reason === '',
    reason,
  };
}

/** The sentence that shares most with what cites it, and its neighbours that share nearly as much. */
function bestQuote(content: string, citing: readonly string[]): { start: number; end: number } {
  const wanted = citing.map(pairs);
  const sentences = splitSentences(content);
  const scores = sentences.map(({ text }) => {
    const own = pairs(text);
    return Math.max(0, ...wanted.map((pairsOfText) => overlap(own, pairsOfText)));
  });
  const best = scores.indexOf(Math.max(...scores));
  const chosen = sentences[best];
  if (!chosen) return { start: 0, end: Math.min(content.length, MAX_QUOTE_CHARACTERS) };
  return extend({ sentences, scores, best }, chosen);
}

function extend(
  { sentences, scores, best }: { sentences: readonly Sentence[]; scores: readonly number[]; best: number },
  chosen: Sentence,
): { start: number; end: number } {
  const isNear = (index: number) => (scores[index] ?? 0) > 0 && (scores[index] ?? 0) >= (scores[best] ?? 0) * NEAR_BEST;
  let { start, end } = chosen;
  for (let index = best - 1; isNear(index); index -= 1) {
    const from = sentences[index]?.start ?? start;
    if (end - from > MAX_QUOTE_CHARACTERS) break;
    start = from;
  }
  for (let index = best + 1; isNear(index); index += 1) {
    const to = sentences[index]?.end ?? end;
    if (to - start > MAX_QUOTE_CHARACTERS) break;
    end = to;
  }
  return { start, end };
}

/** What the citing sentences say that the source does not; empty where all of it is there. */
function doubt(paragraph: Evidence, citing: readonly string[]): string {
  const source = fold(`${paragraph.title} ${paragraph.content} ${paragraph.documentName}`);
  const numbers = new Set(numbersOf(source));
  const negations = new Set(negationsOf(source));
  for (const text of citing) {
    const folded = fold(text);
    const number = numbersOf(folded).find((value) => !numbers.has(value));
    if (number !== undefined) return `${number} is not in the source`;
    const negation = negationsOf(folded).find((value) => !negations.has(value));
    if (negation !== undefined) return `"${negation}" is not in the source`;
  }
  return '';
}

/** Numbers and dates, Chinese numerals as digits. */
function numbersOf(folded: string): string[] {
  return [...numeralsToDigits(folded).matchAll(NUMBER)].map((match) => match[0]);
}

/** Words that turn a statement round; the short forms of English count as `not`. */
function negationsOf(folded: string): string[] {
  return [...folded.matchAll(NEGATION)].map(([word]) => (/^(?:n['’]t|cannot)$/.test(word) ? 'not' : word));
}

/** Width, case and whitespace do not make two quotes different. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/(?<=\p{Script=Han}) | (?=\p{Script=Han})/gu, '');
}

/** Neighbouring characters of CJK, words of the rest: enough to see which sentence a statement rests on. */
function pairs(text: string): Set<string> {
  const folded = fold(text);
  const units = new Set(folded.match(/[a-z0-9][a-z0-9.%-]*/g) ?? []);
  for (const run of folded.match(/\p{Script=Han}+/gu) ?? []) {
    for (let index = 0; index + 1 < run.length; index += 1) units.add(run.slice(index, index + 2));
  }
  return units;
}

function overlap(source: ReadonlySet<string>, wanted: ReadonlySet<string>): number {
  let shared = 0;
  for (const unit of wanted) if (source.has(unit)) shared += 1;
  return shared / Math.sqrt(Math.max(1, source.size));
}
