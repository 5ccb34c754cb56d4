/**
 * A paragraph gains from the other good paragraphs of its document: its score plus 0.2 times the mean of the document's five
 * best (a document with fewer counts the missing as 0). Passage retrieval with document evidence, after Callan, SIGIR 1994,
 * and Bendersky & Kurland, ECIR 2008. On 700 queries made of citing sentences, gold the cited article, R@5 is .356 without, .396
 * with 0.2 and .411 with 0.3; on 754 real questions R@100 .670, .687, .689. 0.3 leaves one of 43 two-part questions without all
 * its articles after three searches of ten, 0.2 none (58,913 articles, 2026-12-01).
 */
const DOCUMENT_WEIGHT = 0.2;
const DOCUMENT_PARAGRAPHS = 5;

/** Adds `weighted` and sorts by it, best first; ties keep the lower number first. `hits`: best score first. Never throws. */
export function smoothByDocument<Hit extends { documentId: string; score: number; number: number }>(
  hits: readonly Hit[],
): (Hit & { weighted: number })[] {
  const best = new Map<string, { sum: number; count: number }>();
  for (const { documentId, score } of hits) {
    const document = best.get(documentId) ?? { sum: 0, count: 0 };
    if (document.count < DOCUMENT_PARAGRAPHS) {
      document.sum += score;
      document.count += 1;
    }
    best.set(documentId, document);
  }
  return hits
    .map((hit) => ({
      ...hit,
      weighted: hit.score + (DOCUMENT_WEIGHT * (best.get(hit.documentId)?.sum ?? 0)) / DOCUMENT_PARAGRAPHS,
    }))
    .sort((a, b) => b.weighted - a.weighted || a.number - b.number);
}
