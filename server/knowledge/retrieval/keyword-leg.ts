import type { Database } from '../../database/database.ts';
import { type Naming, parseReferences, type Reference, referenceTerm } from '../indexing/references.ts';
import { queryTerms } from '../indexing/tokens.ts';
import { keywordSql } from './keyword-sql.ts';
import { smoothByDocument } from './smooth-by-document.ts';

/** A paragraph found by keywords. `score`: BM25; `weighted`: with its document's share, which orders the list. */
export interface KeywordHit {
  paragraphId: string;
  documentId: string;
  number: number;
  score: number;
  weighted: number;
}

/** A paragraph that is a place the query names. `exact`: also of the text that it names. */
export interface ReferenceHit extends KeywordHit {
  reference: string;
  exact: boolean;
}

/** What keywords found. `hits` and `references`: best first. `ceiling`: the highest BM25 score the query could reach. */
export interface KeywordLeg {
  hits: KeywordHit[];
  references: ReferenceHit[];
  ceiling: number;
  /** Share of the query's terms, by weight, that the datasets have at all; 0–1. */
  coverage: number;
  /** Whether the query says more than where to look. */
  hasOtherTerms: boolean;
}

export interface KeywordRequest {
  query: string;
  datasetIds: readonly string[];
  excludeParagraphIds: readonly string[];
  /** Paragraphs wanted. */
  limit: number;
}

/**
 * Postings read for a query, the rarest terms first, and those of them that make candidates. With 12,000 and 4,000 R@5 / R@100
 * is .409/.685 on real questions, with 20,000 and all of them .409/.684, in less than half the time; reading 8,000 alone makes
 * it .396 (58,913 articles, 2026-12-01).
 */
const POSTINGS_READ = 12_000;
const CANDIDATE_POSTINGS = 4_000;
/** So many terms make candidates however frequent they are. */
const CANDIDATE_TERMS = 3;
/**
 * Candidates among which documents with several good paragraphs gain, and for each paragraph wanted: R@10 is the same from 200
 * on; R@100 rises from .689 with 200 to .693 with 400 (754 real questions, 2026-12-01).
 */
const MIN_CANDIDATES = 200;
const CANDIDATES_PER_PARAGRAPH = 4;
const REFERENCE_PARAGRAPHS = 200;

/** More inactive paragraphs than this before the first active one count as no match. */
const MAX_LOOKED_AT = 5_000_000;

interface Row {
  /** Null in the one row of a search that found nothing. */
  paragraphId: string | null;
  documentId: string;
  number: number;
  score: number;
  reference: string | null;
  ceiling: number | null;
  coverage: number | null;
  seen: number;
}

/** Searches by BM25 and by the places the query names. One statement, more only where most of a dataset is inactive. */
export async function searchKeywords(database: Database, request: KeywordRequest): Promise<KeywordLeg> {
  const { weights, prefixes } = queryTerms(request.query);
  const references = parseReferences(request.query);
  const terms = weights.size > 0 ? weights : new Map(prefixes.map((prefix) => [prefix, 1]));
  if (terms.size === 0 && references.length === 0) return EMPTY;
  const statement = { source: weights.size > 0 ? 'terms' : 'prefixes', terms, references } as const;
  let looked = 2 * wantedParagraphs(request) + request.excludeParagraphIds.length;
  for (;;) {
    const rows = await readRows(database, request, { ...statement, looked });
    const found = rows.filter((row) => row.paragraphId !== null && row.reference === null).length;
    if (found >= request.limit || (rows[0]?.seen ?? 0) < looked || looked > MAX_LOOKED_AT) {
      return toLeg(rows, references, request.query);
    }
    looked *= 8;
  }
}

const EMPTY: KeywordLeg = { hits: [], references: [], ceiling: 0, coverage: 0, hasOtherTerms: false };

function wantedParagraphs({ limit }: KeywordRequest): number {
  return Math.max(limit * CANDIDATES_PER_PARAGRAPH, MIN_CANDIDATES);
}

interface Statement {
  source: 'terms' | 'prefixes';
  terms: ReadonlyMap<string, number>;
  references: readonly Reference[];
  looked: number;
}

function readRows(database: Database, request: KeywordRequest, statement: Statement): Promise<Row[]> {
  const referenceTerms = termsOf(statement.references);
  const withReferences = referenceTerms.length > 0;
  return database.query<Row>(keywordSql({ source: statement.source, withReferences }), [
    [...statement.terms.keys()],
    [...statement.terms.values()],
    request.datasetIds,
    request.excludeParagraphIds,
    wantedParagraphs(request),
    statement.looked,
    POSTINGS_READ,
    CANDIDATE_POSTINGS,
    CANDIDATE_TERMS,
    ...(withReferences ? [referenceTerms, REFERENCE_PARAGRAPHS] : []),
  ]);
}

function termsOf(references: readonly Reference[]): string[] {
  return [
    ...new Set(
      references.flatMap((reference) => namingsOf(reference).map((naming) => referenceTerm(reference, naming))),
    ),
  ];
}

function toLeg(rows: readonly Row[], references: readonly Reference[], query: string): KeywordLeg {
  const found = rows.flatMap(({ paragraphId, reference, ...row }) =>
    paragraphId === null ? [] : [{ paragraphId, reference, ...row }],
  );
  const byScore = found
    .filter((row) => row.reference === null)
    .sort((a, b) => b.score - a.score || a.number - b.number);
  const hits = smoothByDocument(byScore);
  const weighted = new Map(hits.map((hit) => [hit.paragraphId, hit.weighted]));
  const byTerm = new Map<string, KeywordHit[]>();
  for (const { reference, ...row } of found) {
    if (reference === null) continue;
    const hit = { ...row, weighted: weighted.get(row.paragraphId) ?? row.score };
    byTerm.set(reference, [...(byTerm.get(reference) ?? []), hit]);
  }
  return {
    hits,
    references: resolveReferences(references, byTerm, hits),
    ceiling: rows[0]?.ceiling ?? 0,
    coverage: rows[0]?.coverage ?? 0,
    hasOtherTerms: saysMore(query, references),
  };
}

/** For each place the paragraphs of the longest known name; each paragraph once. */
function resolveReferences(
  references: readonly Reference[],
  byTerm: ReadonlyMap<string, KeywordHit[]>,
  hits: readonly KeywordHit[],
): ReferenceHit[] {
  const ranked = new Map(hits.slice(0, UNKNOWN_NAME_DEPTH).map((hit) => [hit.paragraphId, hit]));
  const found = new Map<string, ReferenceHit>();
  for (const reference of references) {
    const terms = knownTerms(reference, byTerm);
    const isNamed = terms.length > 0;
    const anyText = referenceTerm(reference, { kind: 'any' });
    // A named text that is not in the index: then only what the other words find, too, may lead.
    const mayLead = (hit: KeywordHit): boolean =>
      isNamed || reference.names.length === 0 || ranked.has(hit.paragraphId);
    for (const term of isNamed ? terms : [anyText]) {
      const candidates = (byTerm.get(term) ?? []).filter(mayLead);
      candidates.sort((a, b) => b.weighted - a.weighted || a.number - b.number);
      for (const hit of candidates) {
        if (!found.has(hit.paragraphId)) found.set(hit.paragraphId, { ...hit, reference: term, exact: isNamed });
      }
    }
  }
  return [...found.values()].sort((a, b) => Number(b.exact) - Number(a.exact));
}

/** The terms of the longest name that the index knows, whole name first; none when it knows none. */
function knownTerms(reference: Reference, byTerm: ReadonlyMap<string, KeywordHit[]>): string[] {
  for (const name of reference.names) {
    const terms = [
      referenceTerm(reference, { kind: 'strict', name }),
      referenceTerm(reference, { kind: 'loose', name }),
    ];
    const known = terms.filter((term) => byTerm.has(term));
    if (known.length > 0) return known;
  }
  return [];
}

function namingsOf(reference: Reference): Naming[] {
  const named = reference.names.flatMap((name): Naming[] => [
    { kind: 'strict', name },
    { kind: 'loose', name },
  ]);
  return [{ kind: 'any' }, ...named];
}

/** Articles of a text whose name the index does not know lead only when they are among so many of the best by words. */
const UNKNOWN_NAME_DEPTH = 10;

/** Whether anything but names and numbers of places is left of the query. */
function saysMore(query: string, references: readonly Reference[]): boolean {
  if (references.length === 0) return true;
  const rest = query
    .normalize('NFKC')
    .replace(/第\s*[〇零一二两三四五六七八九十百千万\d]+\s*[条款项章节编](?:之[一二三四五六七八九十\d]+)?/gu, ' ');
  return queryTerms(rest).weights.size > 0;
}
