/**
 * Two queries with the same key are the same query (R27): NFKC, lower case, no whitespace, no punctuation.
 * Symbols stay, so that C and C++ differ.
 */
export function queryKey(query: string): string {
  return query
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, '');
}
