import type { ContentWords } from './coverage.ts';

/** The content words of a text as they stand there, not as they are indexed: people read queries. Each once, in order. */
export function writtenTerms(text: string, words: ContentWords): string[] {
  const runs = text.match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu) ?? [];
  const terms = runs.flatMap((run) => {
    if (/^\p{Script=Han}/u.test(run)) return words(run);
    const bare = run.replace(/^\p{P}+|\p{P}+$/gu, '');
    return words(bare).length > 0 ? [bare] : [];
  });
  return [...new Set(terms)];
}
