import { splitSentences } from '../../text/sentences.ts';
import { clipToTokens } from '../tokens.ts';
import { isCorrecting } from './correction-cues.ts';
import { hardValues } from './statement.ts';
import { statedValues } from './statement-values.ts';
import { asLine } from './summary-form.ts';

/** A line of a summary has at most this many tokens, and is shortened by its clauses above this many characters. */
export const MAX_LINE_TOKENS = 70;
const MAX_WHOLE = { zh: 34, en: 90 } as const;
/** In UTF-16 units. Nothing that people write as one sentence is longer; the rest of it is data. */
const MAX_SENTENCE_LENGTH = 1_500;

const LEAD_IN =
  /^(?:(?:你好|您好|早上好|下午好|大家好|谢谢(?:你|您)?|收到|明白了?|好嘞|没问题|顺便(?:说|提|问)?(?:一[下句])?|另外|此外|对了|还有(?:一[点件]事?)?|再补充一[点句]|补充(?:一[点下句])?|说明一下|同步一下|跟你(?:说|同步)一?[下声]?|告诉你一声|先说一?[下声]|请(?:你)?(?:帮我)?(?:记住|记一下|记下|注意)|麻烦(?:你)?(?:帮我)?(?:记住|记一下|记下)(?:来)?|(?:你)?(?:帮我)?记(?:住|一下|一笔|下来?)|备注(?:一下)?|好的?|嗯|哦|那个|其实吧|是这样(?:的)?|供你参考)[，,：:、。！!]?\s*)+|^(?:(?:(?:hello|hi|hey|good (?:morning|afternoon|evening)|thanks|thank you|understood|got it|sure|noted)(?: there| all| a lot| so much)?(?=[,.!:])|by the way|btw|also|fyi|just so you know|for (?:the record|reference|your information)|one more thing|another thing|quick (?:note|update|one)|(?:please )?(?:note|remember|keep in mind|bear in mind|make a note)(?: that)?|(?:so|ok|okay|right|well|oh|hi|hello|thanks|great|and|anyway)(?=,)|before i forget|in case it matters|as (?:background|context)|to be clear|let me add(?: that)?)[,:.!—–-]?\s+)+/iu;

/** A sentence, cleaned, without its lead-in; `before`: the one before it in the same message, '' where there is none. */
export interface SaidSentence {
  text: string;
  before: string;
  isQuestion: boolean;
}

/**
 * The sentences of one message, each on one line. A correction that names no value is joined with the sentence after
 * it ("I was wrong about the date. It is May 3."). Linear; never throws.
 */
export function saidSentences(message: string): SaidSentence[] {
  const texts = splitSentences(message.toWellFormed())
    .map((sentence) => asLine(sentence.text.slice(0, MAX_SENTENCE_LENGTH)))
    .reduce<string[]>(withRemarks, [])
    .filter((text) => /[\p{L}\p{N}]/u.test(text));
  const said: SaidSentence[] = [];
  for (let at = 0; at < texts.length; at += 1) {
    let text = texts[at] ?? '';
    const next = texts[at + 1];
    const before = texts[at - 1] ?? '';
    if (next !== undefined && announces(text) && !isQuestion(next)) {
      text = `${text} ${next}`;
      at += 1;
    }
    said.push({ text, before, isQuestion: isQuestion(text) });
  }
  return said;
}

/** A remark in brackets after a sentence is part of it: `How many days? (in all)`. */
function withRemarks(sentences: string[], text: string): string[] {
  const last = sentences.length - 1;
  if (last >= 0 && /^[(（][^()（）]*[)）]$/u.test(text)) sentences[last] += ` ${text}`;
  else sentences.push(text);
  return sentences;
}

/** Whether a sentence asks something. */
export function isQuestion(sentence: string): boolean {
  return (
    /[？?]["'”’)）]*\s*(?:[(（][^()（）]{1,12}[)）])?\s*$/u.test(sentence) ||
    /(?:吗|呢|多少|什么|如何|怎么(?:办|样|做|算)?|是否.{0,20}|哪(?:些|个|里|天))[。.]?$/u.test(sentence)
  );
}

/** A short sentence without a value of its own that only makes sense with what follows. */
function announces(sentence: string): boolean {
  if (isQuestion(sentence) || sentence.length > 90 || hardValues(statedValues(sentence)).length > 0) return false;
  if (/\p{Script=Han}/u.test(sentence) && statedValues(sentence).length > 0) return false;
  if (/\b(?:is|are|be|to)\s\p{Lu}/u.test(sentence)) return false;
  const isOpening =
    /(?:说错|记错|写错|弄错|搞错|有误|更正|纠正|有变|变了|有变化|有调整|更新|不对|口误|如下)[^，,：:]{0,12}[。：:！!.]?$|[：:]$/u.test(
      sentence,
    );
  const isEnglish =
    /\b(?:wrong|mistake|mistaken|misspoke|correction|corrected|changed|changes?|update|updated|moved|typo|scratch that|revised)\b[^,]{0,40}[.:!]$/i.test(
      sentence,
    );
  // With both ends of a change in it, it says all.
  if (/→|->|=>|\bfrom\b.+\bto\b|(?:由|从).+(?:改|换|变|调)/u.test(sentence)) return false;
  return (isOpening || isEnglish) && (isCorrecting(sentence) || sentence.length < 60);
}

/**
 * A sentence as it goes into a summary: without its lead-in, and where it is long only the clauses that hold something,
 * with the one that says what they are about.
 */
export function condense(sentence: string): string {
  const bare = sentence.replace(LEAD_IN, '').trim() || sentence;
  const limit = /\p{Script=Han}/u.test(bare) ? MAX_WHOLE.zh : MAX_WHOLE.en;
  const kept = bare.length <= limit ? bare : telling(bare);
  return clipToTokens(kept, MAX_LINE_TOKENS, '…');
}

/** Whether a clause alone says nothing: no value, no rule, no correction. */
const WEIGHTY =
  /必须|务必|不得|不能|不可|禁止|只能|希望|目标|决定|负责|联系人|牵头|改|换|不是|而是|更正|待定|没定|未定|尚未|《|\b(?:must|not|only|never|want|goal|decided|owner|lead|contact|open|pending|undecided|unclear|TBD)\b/iu;

function telling(sentence: string): string {
  const clauses = clausesOf(sentence);
  const isKept = clauses.map((clause) => statedValues(clause).length > 0 || WEIGHTY.test(clause));
  const first = isKept.indexOf(true);
  if (first < 0) return sentence;
  // What the first telling clause is about often stands right before it.
  if (first > 0 && (clauses[first] ?? '').replace(/[\s\p{P}\d]/gu, '').length < 12) isKept[first - 1] = true;
  return clauses
    .map((clause, index) => {
      if (isKept[index]) return clause;
      // What is left out between two clauses is seen to be left out.
      return isKept[index - 1] && isKept.includes(true, index) ? '… ' : '';
    })
    .join('')
    .replace(/^[\s，,；;—–-]+|[\s，,；;—–-]+$/gu, '');
}

/** Never within brackets or a quotation: what is quoted stays as it was said. */
function clausesOf(sentence: string): string[] {
  const pieces = sentence.split(
    /(?<=[，；;：])|(?<=,\s)(?=[A-Za-z])|(?<=\s[—–-]\s)|(?=\s(?:but|because|so that|which|since|although|while)\s)/u,
  );
  const clauses: string[] = [];
  for (const piece of pieces) {
    const last = clauses.at(-1);
    if (last !== undefined && isOpen(last)) clauses[clauses.length - 1] = last + piece;
    else clauses.push(piece);
  }
  return clauses;
}

const PAIRS = ['()', '（）', '“”', '「」', '《》', '[]', '【】'] as const;

function isOpen(text: string): boolean {
  const count = (character: string | undefined) => text.split(character ?? '').length - 1;
  return (
    PAIRS.some(([open, close]) => count(open) > count(close)) || count('"') % 2 === 1 || /^\s*\|(?!.*\|\s*$)/.test(text)
  );
}
