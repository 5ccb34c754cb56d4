import { clipToTokens, countTokens } from '../../models/tokens.ts';

/** One paragraph that a search returned. */
export interface SearchHit {
  paragraphId: string;
  documentId: string;
  datasetId: string;
  documentName: string;
  datasetName: string;
  title: string;
  content: string;
  /** Estimated tokens of title and content. */
  tokenCount: number;
  /** From 0 to 1 (R122). */
  similarity: number;
  comprehensiveScore: number;
}

/** A paragraph that may be cited. `n` is its number for the whole question; `rank` its best place in a search, from 1. */
export interface Evidence extends SearchHit {
  n: number;
  rank: number;
  round: number;
  /** What a model is shown: the content, clipped where it alone is over the limit. */
  shownContent: string;
}

export interface EvidenceLimits {
  maxTokens: number;
  maxParagraphs: number;
}

/** At most this many paragraphs in one question (R39). */
export const MAX_EVIDENCE_PARAGRAPHS = 40;

/** What a passage costs in a prompt beside its text: number, tags and the names of its attributes. */
const PASSAGE_OVERHEAD_TOKENS = 24;
const CLIP_MARKER = ' …';

/** What a round added. `refused`: a hit did not fit the token or the paragraph limit (R29). */
export interface Added {
  paragraphs: Evidence[];
  refused: boolean;
}

/**
 * The evidence of one question over all rounds, without duplicates (R14), within its limits (R36, R39).
 * Numbers are given in the order of arrival and never change.
 */
export class EvidenceSet {
  readonly #limits: EvidenceLimits;
  readonly #byId = new Map<string, Evidence>();
  #tokens = 0;

  constructor(limits: EvidenceLimits) {
    this.#limits = limits;
  }

  /** In the order of their numbers. */
  get paragraphs(): Evidence[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * Takes the hits of a round's searches, one list a query, each best first: the best of every query before
   * the second best of any. A hit that does not fit is refused, smaller ones after it are still taken.
   */
  add(round: number, resultLists: readonly (readonly SearchHit[])[]): Added {
    const added: Added = { paragraphs: [], refused: false };
    const longest = Math.max(0, ...resultLists.map((list) => list.length));
    for (let index = 0; index < longest; index += 1) {
      for (const list of resultLists) {
        const hit = list[index];
        if (hit) this.#take(hit, { round, rank: index + 1 }, added);
      }
    }
    return added;
  }

  #take(hit: SearchHit, place: { round: number; rank: number }, added: Added): void {
    const known = this.#byId.get(hit.paragraphId);
    if (known) {
      known.rank = Math.min(known.rank, place.rank);
      return;
    }
    const fitting = this.#fit(hit);
    if (fitting === null) {
      added.refused = true;
      return;
    }
    const paragraph = { ...fitting, ...place, n: this.#byId.size + 1 };
    this.#byId.set(hit.paragraphId, paragraph);
    this.#tokens += passageTokens(paragraph);
    added.paragraphs.push(paragraph);
  }

  /** A first paragraph that alone is over the limit is clipped: no evidence at all would be worse. */
  #fit(hit: SearchHit): (SearchHit & Pick<Evidence, 'shownContent'>) | null {
    if (this.#byId.size >= this.#limits.maxParagraphs) return null;
    if (this.#tokens + passageTokens(hit) <= this.#limits.maxTokens) return { ...hit, shownContent: hit.content };
    if (this.#byId.size > 0) return null;
    const room =
      this.#limits.maxTokens - passageTokens({ documentName: hit.documentName, tokenCount: countTokens(hit.title) });
    const shownContent = clipToTokens(hit.content, Math.max(1, room), CLIP_MARKER);
    return { ...hit, shownContent, tokenCount: countTokens(hit.title) + countTokens(shownContent) };
  }
}

/** Estimated tokens of a passage in a prompt, its frame included. */
export function passageTokens(passage: Pick<SearchHit, 'documentName' | 'tokenCount'>): number {
  return passage.tokenCount + countTokens(passage.documentName) + PASSAGE_OVERHEAD_TOKENS;
}
