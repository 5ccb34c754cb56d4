import type { Citation } from '../../../contract/chat.ts';
import { numeralsToDigits } from '../../text/chinese-numerals.ts';
import { splitSentences } from '../../text/sentences.ts';
import type { Evidence } from './evidence.ts';

/** `[1]`, also `[1, 2]` and the full-width `【3】` that some models write. */
const MARKER = /[[【]\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*[\]】]/g;

const NEGATION =
  /不得|不应|不能|不予|不可|不是|没有|无权|无须|无需|禁止|未经|除外|\b(?:not|no|never|without|except)\b|n't\b/giu;
const NUMBER = /\d+(?:[.,:/-]\d+)*%?/gu;

const MAX_QUOTE_CHARACTERS = 300;

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
  const cited = [...new Set(sentences.flatMap((sentence) => sentence.numbers))].sort((a, b) => a - b);
  return cited.flatMap((n) => {
    const paragraph = byNumber.get(n);
    if (!paragraph) return [];
    const citing = sentences.filter((sentence) => sentence.numbers.includes(n)).map((sentence) => sentence.text);
    return [cite(paragraph, citing)];
  });
}

/** Numbers that the answer cites and the evidence does not have, ascending: a model that invents sources. */
export function unknownMarkers(answer: string, evidence: readonly Evidence[]): number[] {
  const known = new Set(evidence.map((paragraph) => paragraph.n));
  const cited = new Set(citingSentences(answer).flatMap((sentence) => sentence.numbers));
  return [...cited].filter((n) => !known.has(n)).sort((a, b) => a - b);
}

function citingSentences(answer: string): CitingSentence[] {
  const found: CitingSentence[] = [];
  for (const { text } of splitSentences(answer)) {
    const numbers = [...text.matchAll(MARKER)].flatMap((match) => (match[1] ?? '').split(/[,，、]/).map(Number));
    const words = text.replace(MARKER, ' ').trim();
    const previous = found.at(-1);
    // "… 六十日。[1]": markers behind the full stop belong to the sentence before them.
    if (/^[\s>*\-.。]*$/.test(words) && previous) previous.numbers.push(...numbers);
    else found.push({ text: words, numbers });
  }
  return found.filter((sentence) => sentence.numbers.length > 0);
}

function cite(paragraph: Evidence, citing: readonly string[]): Citation {
  const quote = bestQuote(paragraph.content, citing);
  const reason = doubt(paragraph, citing);
  return {
    n: paragraph.n,
    paragraph_id: paragraph.paragraphId,
    document_id: paragraph.documentId,
    document: paragraph.documentName,
    title: paragraph.title,
    quote: paragraph.content.slice(quote.start, quote.end),
    start: quote.start,
    end: quote.end,
    verified: reason === '',
    reason,
  };
}

/** The run of the paragraph from the first to the last sentence that shares most with what cites it. */
function bestQuote(content: string, citing: readonly string[]): { start: number; end: number } {
  const wanted = citing.map((text) => pairs(text));
  const sentences = splitSentences(content);
  const scored = sentences.map((sentence) => {
    const own = pairs(sentence.text);
    return { ...sentence, score: Math.max(0, ...wanted.map((pairsOfText) => overlap(own, pairsOfText))) };
  });
  const best = Math.max(0, ...scored.map((sentence) => sentence.score));
  const strong = best === 0 ? scored.slice(0, 1) : scored.filter((sentence) => sentence.score >= best * 0.6);
  const first = strong[0];
  if (!first) return { start: 0, end: Math.min(content.length, MAX_QUOTE_CHARACTERS) };
  const last = strong.findLast((sentence) => sentence.end - first.start <= MAX_QUOTE_CHARACTERS) ?? first;
  return { start: first.start, end: last.end };
}

function doubt(paragraph: Evidence, citing: readonly string[]): string {
  const source = fold(`${paragraph.title} ${paragraph.content} ${paragraph.documentName}`);
  const numbers = new Set(numbersOf(source));
  for (const text of citing) {
    const folded = fold(text);
    const number = numbersOf(folded).find((value) => !numbers.has(value));
    if (number !== undefined) return `${number} is not in the source`;
    const negation = [...folded.matchAll(NEGATION)].map((match) => match[0]).find((value) => !source.includes(value));
    if (negation !== undefined) return `"${negation}" is not in the source`;
  }
  return '';
}

/** Numbers and dates, Chinese numerals as digits. */
function numbersOf(folded: string): string[] {
  return [...numeralsToDigits(folded).matchAll(NUMBER)].map((match) => match[0]);
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
  const han = folded.replace(/[^\p{Script=Han}]+/gu, ' ');
  for (const run of han.split(' ')) {
    for (let index = 0; index + 1 < run.length; index += 1) units.add(run.slice(index, index + 2));
  }
  return units;
}

function overlap(source: ReadonlySet<string>, wanted: ReadonlySet<string>): number {
  let shared = 0;
  for (const unit of wanted) if (source.has(unit)) shared += 1;
  return shared / Math.sqrt(Math.max(1, source.size));
}
