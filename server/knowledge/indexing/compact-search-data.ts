import type { Database } from '../../database/database.ts';
import {
  deleteSegments,
  listSegments,
  lockDataset,
  mergeSegments,
  rewriteSegments,
  type StoredSegment,
  vacuumSearchData,
} from './compact-search-data-store.ts';

/**
 * Segments are merged when there are so many of one size: first those of single documents, then these again. Each posting is
 * then written three times at most; fewer and larger segments would make searches little faster.
 */
const TIERS = [
  { below: 1_000, count: 48 },
  { below: 20_000, count: 12 },
  { below: 400_000, count: 12 },
] as const;
/** Rewrites a dataset when more than this share of what its lists hold is deleted or replaced. */
const MAX_DEAD_SHARE = 0.2;

/** What was done. `merged`: segments taken together. */
export interface Compaction {
  merged: number;
}

/**
 * Keeps a dataset's posting lists few and without the dead: merges segments of like size when there are many, and all of
 * them when a fifth of their paragraphs are gone. Search is right without it, only slower and with stale statistics. Safe at
 * any time beside searches and indexing; a second call for the same dataset does nothing meanwhile. Throws what the database
 * throws.
 */
export async function compactSearchData(database: Database, datasetId: string): Promise<Compaction> {
  let merged = 0;
  for (;;) {
    const count = await database.transaction(() => compactOnce(database, datasetId));
    if (count === 0) break;
    merged += count;
  }
  // The embedded database has no autovacuum: the space of merged lists is free only after this.
  if (merged > 0 && database.engine === 'pglite') await vacuumSearchData(database);
  return { merged };
}

async function compactOnce(database: Database, datasetId: string): Promise<number> {
  if (!(await lockDataset(database, datasetId))) return 0;
  const { segments, alive } = await listSegments(database, datasetId);
  const chosen = chooseSegments(segments, alive);
  if (chosen.length === 0) return 0;
  const ids = chosen.map((segment) => segment.id);
  if (alive < heldBy(segments)) await rewriteSegments(database, datasetId, ids);
  else await mergeSegments(database, datasetId, ids);
  await deleteSegments(database, ids);
  return chosen.length;
}

/** Exported for its test: the segments to take together, or none. `alive`: paragraphs of the dataset that exist. */
export function chooseSegments(segments: readonly StoredSegment[], alive: number): StoredSegment[] {
  const held = heldBy(segments);
  if (held > 0 && 1 - alive / held > MAX_DEAD_SHARE) return [...segments];
  let from = 0;
  for (const { below, count } of TIERS) {
    const tier = segments.filter(({ paragraphs }) => paragraphs >= from && paragraphs < below);
    if (tier.length >= count) return tier;
    from = below;
  }
  return [];
}

function heldBy(segments: readonly StoredSegment[]): number {
  return segments.reduce((sum, segment) => sum + segment.paragraphs, 0);
}
