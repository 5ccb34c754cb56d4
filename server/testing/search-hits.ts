import type { SearchHit } from '../chat/agent/evidence.ts';

/** A search hit with everything a test does not care about filled in. */
export function buildHit(hit: Partial<SearchHit> & { paragraphId: string }): SearchHit {
  return {
    documentId: 'document',
    datasetId: 'dataset',
    documentName: 'handbook.md',
    datasetName: 'handbooks',
    title: 'title',
    content: `content of ${hit.paragraphId}`,
    tokenCount: 10,
    similarity: 0.5,
    comprehensiveScore: 0.5,
    ...hit,
  };
}
