/** A stretch of text that is cut by one rule. `dense`: a script written without spaces; `word`: a word, number or code. */
export interface TextRun {
  kind: 'dense' | 'word';
  text: string;
}

const DENSE =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー々〆〇';
const WORD = `(?:(?![${DENSE}])[\\p{L}\\p{N}\\p{M}])+`;
/** Whole codes: `gb/t`, `22239-2019`, `v2.10`, `a.b@c.org`, `c++`, `c#`, `.net`. No part can match two ways, so it is linear. */
const RUNS = new RegExp(`[${DENSE}][${DENSE}\\p{M}]*|\\.?${WORD}(?:[._/@:&+-]${WORD})*(?:\\+\\+|#)?`, 'gu');
const IS_DENSE = new RegExp(`^[${DENSE}]`, 'u');

/** Cuts text into runs after NFKC and lower-casing; punctuation, symbols and emoji are dropped. Never throws. */
export function* textRuns(text: string): Generator<TextRun> {
  for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(RUNS)) {
    yield { kind: IS_DENSE.test(run) ? 'dense' : 'word', text: run };
  }
}
