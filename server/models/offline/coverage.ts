import { splitSentences } from '../../text/sentences.ts';
import type { EvidencePassage } from '../chat-model.ts';
import { asksForValue, givesWhatIsAsked } from './answer-type.ts';
import { supersededDocuments } from './document-version.ts';

/** Content words of a text, stop words out, English stemmed; the same for a question and for a document. */
export type ContentWords = (text: string) => string[];

/** A sentence of the evidence that may answer a part. `score`: higher is better, comparable within a part. */
export interface Candidate {
  n: number;
  sentence: string;
  score: number;
  /** Share of the part's words, by weight, that its passage holds; 0–1. */
  passageShare: number;
  /** The same for the sentence and the title it stands under. */
  sentenceShare: number;
}

/** What the evidence says on one part. `candidates`: best first. */
export interface Coverage {
  part: string;
  covered: boolean;
  candidates: Candidate[];
}

/**
 * A part counts as covered when one passage holds this share of its words and one sentence this share. Measured on
 * 403 questions of cmrc2018 dev, five passages each (2026-12-01): sufficient for 65 % with the right passage among them,
 * for 5.5 % with five wrong ones; .6 and .4 give 83 % and 17 %. Better to search once more than to be content too soon.
 */
const MIN_PASSAGE_SHARE = 0.74;
const MIN_SENTENCE_SHARE = 0.5;

/** The whole question's words in a title say that the passage is about the right thing. */
const SUBJECT_WEIGHT = 0.35;
/** A sentence without the number asked for is no answer, whatever else it holds. */
const WRONG_TYPE_FACTOR = 0.4;

/** A text to look words up in: Chinese anywhere, also across a segmenter's cuts, others by their stems. */
interface Searchable {
  text: string;
  stems: ReadonlySet<string>;
}

interface SearchablePassage {
  n: number;
  head: Searchable;
  body: Searchable;
  sentences: { text: string; searchable: Searchable }[];
}

/** Finds for each part the sentences that answer it, if any. Pure apart from `words`; never throws. */
export function coverParts(
  { question, parts, passages }: { question: string; parts: readonly string[]; passages: readonly EvidencePassage[] },
  words: ContentWords,
): Coverage[] {
  const superseded = supersededDocuments(
    passages.map((passage) => passage.document),
    question,
  );
  const current = passages.filter((passage) => !superseded.has(passage.document));
  const searchable = current.map((passage) => searchablePassage(passage, words));
  const subject = weigh(words(question));
  return parts.map((part) => coverPart(part, { searchable, subject, words }));
}

function coverPart(
  part: string,
  {
    searchable,
    subject,
    words,
  }: { searchable: readonly SearchablePassage[]; subject: Map<string, number>; words: ContentWords },
): Coverage {
  const wanted = weigh(words(part));
  const candidates = searchable
    .flatMap((passage) => judgePassage(passage, { part, wanted, subject }))
    .sort((a, b) => b.score - a.score || a.n - b.n);
  const best = candidates[0];
  const covered =
    best !== undefined &&
    wanted.size > 0 &&
    best.passageShare >= MIN_PASSAGE_SHARE &&
    best.sentenceShare >= MIN_SENTENCE_SHARE &&
    givesWhatIsAsked(part, best.sentence);
  return { part, covered, candidates };
}

function judgePassage(
  passage: SearchablePassage,
  { part, wanted, subject }: { part: string; wanted: Map<string, number>; subject: Map<string, number> },
): Candidate[] {
  const passageShare = share(wanted, passage.head, passage.body);
  if (passageShare === 0) return [];
  const about = share(subject, passage.head);
  return passage.sentences.map(({ text, searchable }) => {
    const own = share(wanted, searchable);
    const factor = asksForValue(part) && !givesWhatIsAsked(part, text) ? WRONG_TYPE_FACTOR : 1;
    return {
      n: passage.n,
      sentence: text,
      score: (own + 0.5 * passageShare + SUBJECT_WEIGHT * about) * factor,
      passageShare,
      sentenceShare: share(wanted, passage.head, searchable),
    };
  });
}

function searchablePassage({ n, document, title, content }: EvidencePassage, words: ContentWords): SearchablePassage {
  return {
    n,
    head: searchableText(`${document} ${title}`, words),
    body: searchableText(content, words),
    sentences: splitSentences(content).map(({ text }) => ({ text, searchable: searchableText(text, words) })),
  };
}

function searchableText(text: string, words: ContentWords): Searchable {
  const folded = text.normalize('NFKC').toLowerCase();
  const others = folded.replace(/\p{Script=Han}+/gu, ' ');
  return { text: folded, stems: new Set(/[\p{L}\p{N}]/u.test(others) ? words(others) : []) };
}

/** Words that ask or hedge; no document says them where it answers. English ones are stems. */
const ASKING_WORDS = new Set(
  `多久 多长 长时间 多少 多少钱 几天 几年 几个 何时 何人 何处 一般 通常 一般来说 大概 大约 分别 请问
  long mani much often usual general exact kind sort sai state tell describ explain`.split(/\s+/),
);

/** By length in characters: a term of art says more than a common word, a single character next to nothing. */
const HAN_WEIGHTS = [0, 0.5, 2, 3, 4];

/** Longer words say more. */
function weigh(words: readonly string[]): Map<string, number> {
  const telling = words.filter((word) => !ASKING_WORDS.has(word));
  return new Map(
    (telling.length > 0 ? telling : words).map((word) => [
      word,
      /\p{Script=Han}/u.test(word) ? (HAN_WEIGHTS[Math.min(word.length, 4)] ?? 0) : 2.5,
    ]),
  );
}

function share(wanted: ReadonlyMap<string, number>, ...places: readonly Searchable[]): number {
  let found = 0;
  let total = 0;
  for (const [word, weight] of wanted) {
    total += weight;
    if (places.some((place) => holds(place, word))) found += weight;
  }
  return total === 0 ? 0 : found / total;
}

function holds({ text, stems }: Searchable, word: string): boolean {
  return /\p{Script=Han}/u.test(word) ? text.includes(word) : stems.has(word);
}
