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
 * A part counts as covered when one passage holds this share of its words and one sentence this share.
 * Chosen on cmrc2018 passages, right against wrong ones; see evals/offline-coverage.md.
 */
const MIN_PASSAGE_SHARE = 0.74;
const MIN_SENTENCE_SHARE = 0.5;

/** The whole question's words in a title say that the passage is about the right thing. */
const SUBJECT_WEIGHT = 0.35;
/** A sentence without the number asked for is no answer, whatever else it holds. */
const WRONG_TYPE_FACTOR = 0.4;

interface FoldedPassage {
  n: number;
  head: string;
  body: string;
  sentences: string[];
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
  const folded = current.map(foldPassage);
  const subject = weigh(words(question));
  return parts.map((part) => coverPart(part, { folded, subject, words }));
}

function coverPart(
  part: string,
  { folded, subject, words }: { folded: readonly FoldedPassage[]; subject: Map<string, number>; words: ContentWords },
): Coverage {
  const wanted = weigh(words(part));
  const candidates = folded
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
  passage: FoldedPassage,
  { part, wanted, subject }: { part: string; wanted: Map<string, number>; subject: Map<string, number> },
): Candidate[] {
  const passageShare = share(wanted, `${passage.head} ${passage.body}`);
  if (passageShare === 0) return [];
  const about = share(subject, passage.head);
  return passage.sentences.map((sentence) => {
    const foldedSentence = fold(sentence);
    const own = share(wanted, foldedSentence);
    const factor = asksForValue(part) && !givesWhatIsAsked(part, sentence) ? WRONG_TYPE_FACTOR : 1;
    return {
      n: passage.n,
      sentence,
      score: (own + 0.5 * passageShare + SUBJECT_WEIGHT * about) * factor,
      passageShare,
      sentenceShare: share(wanted, `${passage.head} ${foldedSentence}`),
    };
  });
}

function foldPassage({ n, document, title, content }: EvidencePassage): FoldedPassage {
  return {
    n,
    head: fold(`${document} ${title}`),
    body: fold(content),
    sentences: splitSentences(content).map((sentence) => sentence.text),
  };
}

/** Longer words say more: four characters of a term of art against two of a common word. */
function weigh(words: readonly string[]): Map<string, number> {
  return new Map(words.map((word) => [word, /\p{Script=Han}/u.test(word) ? Math.min(word.length, 4) : 2.5]));
}

function share(wanted: ReadonlyMap<string, number>, text: string): number {
  let found = 0;
  let total = 0;
  for (const [word, weight] of wanted) {
    total += weight;
    if (holds(text, word)) found += weight;
  }
  return total === 0 ? 0 : found / total;
}

/** Han words may stand anywhere, also across the segmenter's cuts; a stem must begin a word. */
function holds(text: string, word: string): boolean {
  if (/\p{Script=Han}/u.test(word)) return text.includes(word);
  let from = text.indexOf(word);
  while (from >= 0) {
    if (from === 0 || !/[a-z0-9]/.test(text.charAt(from - 1))) return true;
    from = text.indexOf(word, from + 1);
  }
  return false;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
