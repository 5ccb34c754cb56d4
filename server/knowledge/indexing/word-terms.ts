import { stemmer } from 'stemmer';

/** Longer terms are cut: nobody types them, and an index entry must stay small. In UTF-16 units. */
const MAX_TERM_LENGTH = 64;

/**
 * The terms of one word, number or code of `textRuns`: the whole, then the parts of a code (`qwen3-32b` → qwen3-32b,
 * qwen3, 32b, qwen, 32). English words are stemmed, accents dropped. Never throws.
 */
export function wordTerms(run: string): string[] {
  const folded = foldAccents(run);
  const parts = folded.split(/[._/@:&+#-]+/).filter((part) => part !== '');
  const terms = new Set<string>();
  if (parts.length > 1 || parts[0] !== folded) terms.add(clip(folded));
  for (const part of parts) {
    terms.add(stem(part));
    for (const piece of letterAndDigitRuns(part)) terms.add(stem(piece));
  }
  return [...terms];
}

/** `t22239` also says 22239, so that a code is found when written with and without the space. */
function letterAndDigitRuns(part: string): string[] {
  if (!/[0-9]/.test(part) || !/[a-z]/.test(part)) return [];
  return (part.match(/[a-z]{2,}|[0-9]+/g) ?? []).filter((piece) => piece.length > 1);
}

function stem(word: string): string {
  const clipped = clip(word);
  return /^[a-z]{3,}$/.test(clipped) ? stemmer(clipped) : clipped;
}

function foldAccents(word: string): string {
  return /[^\x00-\x7f]/.test(word) && /\p{Script=Latin}/u.test(word)
    ? word
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .normalize('NFC')
    : word;
}

function clip(word: string): string {
  if (word.length <= MAX_TERM_LENGTH) return word;
  return word.slice(0, MAX_TERM_LENGTH).toWellFormed();
}
