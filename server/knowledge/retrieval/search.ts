import type { Database } from '../../database/database.ts';
import type { Embedder } from '../../models/chat-model.ts';
import { type KeywordLeg, searchKeywords } from './keyword-leg.ts';
import { rankResults } from './rank-results.ts';
import { type ParagraphRow, readParagraphs } from './search-store.ts';
import { countDatasetVectors, searchVectors, type VectorHit } from './vector-leg.ts';

export type SearchMode = 'embedding' | 'keywords' | 'blend';

/** `similarity`: only vectors above it count; keywords are not filtered (R122). `topN`: hits wanted. */
export interface SearchRequest {
  query: string;
  datasetIds: readonly string[];
  topN: number;
  mode: SearchMode;
  similarity: number;
  excludeParagraphIds?: readonly string[];
  signal: AbortSignal;
}

/** Why a hit is where it is: its place (from 1) and score in each list that has it. Scores are BM25 and cosine. */
export interface Explanation {
  keyword: { rank: number; score: number } | null;
  vector: { rank: number; score: number } | null;
  /** The place named in the query that this paragraph is. `exact`: the query names its text, too. */
  reference: { number: string; exact: boolean } | null;
}

/** `similarity`: 0–1 (R122). `comprehensiveScore`: orders the list, 0–1. */
export interface SearchHit extends ParagraphRow {
  similarity: number;
  comprehensiveScore: number;
  explanation: Explanation;
}

/** `hits`: best first. `mode`: what was really used. `notice`: a failure that was got round. */
export interface SearchResult {
  hits: SearchHit[];
  mode: SearchMode;
  notice: string | null;
}

/** A search by vectors alone was asked for, and there is no model to embed the query. */
export class NoEmbedderError extends Error {
  readonly code = 'no_embedding_model';

  constructor() {
    super('A search by vectors was asked for, but no embedding model is configured.');
    this.name = 'NoEmbedderError';
  }
}

interface SearchDeps {
  database: Database;
  embedder: Embedder | null;
}

/** Candidates of each leg that fusion looks at, whatever few are wanted. */
const MIN_KEYWORD_LIMIT = 50;
const MIN_VECTOR_LIMIT = 100;

/**
 * The one search of chat, hit test, command line, API and MCP: BM25, exact references and vectors, fused. Ties are ordered
 * by the age of the paragraphs. `blend` falls back to keywords without an embedder, without vectors of its model and, telling so
 * in `notice`, when embedding fails. Throws NoEmbedderError and the embedder's error in mode `embedding`, and when
 * `signal` fires.
 */
export async function search(deps: SearchDeps, request: SearchRequest): Promise<SearchResult> {
  request.signal.throwIfAborted();
  if (request.datasetIds.length === 0 || request.topN < 1) return { hits: [], mode: request.mode, notice: null };
  const [keyword, vector] = await Promise.all([keywordLeg(deps, request), vectorLeg(deps, request)]);
  request.signal.throwIfAborted();
  const ranked = rankResults({ keyword, vector: vector.hits, topN: request.topN });
  const paragraphs = await readParagraphs(
    deps.database,
    ranked.map((hit) => hit.paragraphId),
  );
  request.signal.throwIfAborted();
  const hits = ranked.flatMap((hit) => {
    const paragraph = paragraphs.get(hit.paragraphId);
    return paragraph ? [{ ...paragraph, ...hit }] : [];
  });
  return { hits, mode: usedMode(request.mode, vector), notice: vector.notice };
}

function usedMode(asked: SearchMode, vector: VectorOutcome): SearchMode {
  return asked === 'blend' && vector.hits === null ? 'keywords' : asked;
}

async function keywordLeg({ database }: SearchDeps, request: SearchRequest): Promise<KeywordLeg | null> {
  if (request.mode === 'embedding') return null;
  return searchKeywords(database, {
    query: request.query,
    datasetIds: request.datasetIds,
    excludeParagraphIds: request.excludeParagraphIds ?? [],
    limit: Math.max(request.topN, MIN_KEYWORD_LIMIT),
  });
}

/** `hits`: null when the leg was not used. */
interface VectorOutcome {
  hits: VectorHit[] | null;
  notice: string | null;
}

async function vectorLeg(deps: SearchDeps, request: SearchRequest): Promise<VectorOutcome> {
  if (request.mode === 'keywords') return { hits: null, notice: null };
  if (request.mode === 'embedding') return { hits: await nearest(deps, request), notice: null };
  if (deps.embedder === null) return { hits: null, notice: null };
  try {
    return { hits: await nearest(deps, request), notice: null };
  } catch (error) {
    if (request.signal.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { hits: null, notice: `Searched by keywords only: ${reason}` };
  }
}

async function nearest({ database, embedder }: SearchDeps, request: SearchRequest): Promise<VectorHit[] | null> {
  if (embedder === null) throw new NoEmbedderError();
  const { datasetIds, excludeParagraphIds = [], similarity, topN } = request;
  const rows = await countDatasetVectors(database, { datasetIds, model: embedder.model });
  if (rows === 0) return null;
  const [embedding] = await embedder.embed([request.query], request.signal);
  if (embedding === undefined) throw new Error('The embedding model returned no vector.');
  const limit = Math.max(topN, MIN_VECTOR_LIMIT);
  const vectorRequest = { embedding, model: embedder.model, datasetIds, excludeParagraphIds, similarity, limit };
  return searchVectors(database, vectorRequest, rows);
}
