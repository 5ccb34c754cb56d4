import type { Segment } from './pdf-lines.ts';

/** A column of prose has several lines that are long and reach over half of it; they hold most of its text. */
const minLines = 5;
const minProseLength = 25;
const minProseFill = 0.5;
const minProseShare = 0.6;
/** Of all lines; titles, figures and footers may reach across. */
const maxCrossing = 0.25;
const gutterSteps = 60;
const maxDepth = 2;

/**
 * Orders the segments of a page for reading: text in columns column by column, between lines that span the page.
 * Returns groups of segments (one group per column and band) in reading order; a page without columns is one group.
 * Never throws.
 */
export function findColumns(segments: readonly Segment[], depth = 0): Segment[][] {
  const gutter = depth < maxDepth && segments.length >= 2 * minLines ? findGutter(segments) : null;
  if (gutter === null) return segments.length === 0 ? [] : [[...segments]];
  const isRightToLeft = segments.filter((segment) => segment.isRightToLeft).length * 2 > segments.length;
  const groups: Segment[][] = [];
  for (const band of bandsOf(segments, gutter)) {
    const sides = [band.left, band.right].map((side) => findColumns(side, depth + 1));
    groups.push(...(isRightToLeft ? sides.reverse() : sides).flat());
    if (band.spanning.length > 0) groups.push(band.spanning);
  }
  return groups;
}

interface Band {
  left: Segment[];
  right: Segment[];
  /** The lines below the columns that reach across the gutter. */
  spanning: Segment[];
}

function bandsOf(segments: readonly Segment[], gutter: number): Band[] {
  const bands: Band[] = [{ left: [], right: [], spanning: [] }];
  for (const segment of [...segments].sort((a, b) => a.baseline - b.baseline)) {
    let band = bands.at(-1) as Band;
    const crosses = isCrossing(segment, gutter);
    if (!crosses && band.spanning.length > 0) {
      band = { left: [], right: [], spanning: [] };
      bands.push(band);
    }
    const side = crosses ? band.spanning : segment.right <= gutter + 1 ? band.left : band.right;
    side.push(segment);
  }
  return bands;
}

function isCrossing(segment: Segment, gutter: number): boolean {
  return segment.left < gutter - 1 && segment.right > gutter + 1;
}

/** The x with the fewest lines across it, in the middle half of the text, that has prose on both sides. */
function findGutter(segments: readonly Segment[]): number | null {
  const left = Math.min(...segments.map((segment) => segment.left));
  const right = Math.max(...segments.map((segment) => segment.right));
  let best: { x: number; crossing: number } | null = null;
  for (let step = 0; step <= gutterSteps; step += 1) {
    const x = left + (right - left) * (0.25 + (0.5 * step) / gutterSteps);
    const crossing = segments.filter((segment) => isCrossing(segment, x)).length;
    if (best === null || crossing < best.crossing) best = { x, crossing };
  }
  if (!best || best.crossing > segments.length * maxCrossing) return null;
  const { x } = best;
  const sides = [
    segments.filter((segment) => segment.right <= x + 1),
    segments.filter((segment) => segment.left >= x - 1),
  ];
  return sides.every(isProse) && areSideBySide(sides[0] ?? [], sides[1] ?? []) ? x : null;
}

/** Cells of tables and forms are short or narrow; what they hold must be read row by row. */
function isProse(side: readonly Segment[]): boolean {
  const left = Math.min(...side.map((segment) => segment.left));
  const right = Math.max(...side.map((segment) => segment.right));
  const isLong = (segment: Segment) =>
    segment.right - segment.left >= (right - left) * minProseFill && readingLength(segment.text) >= minProseLength;
  const prose = side.filter(isLong);
  return prose.length >= minLines && totalWidth(prose) >= totalWidth(side) * minProseShare;
}

/** A Han character says as much as two letters. */
function readingLength(text: string): number {
  return text.length + (text.match(/\p{Script=Han}/gu)?.length ?? 0);
}

function totalWidth(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.right - segment.left, 0);
}

function areSideBySide(left: readonly Segment[], right: readonly Segment[]): boolean {
  const baselines = (side: readonly Segment[]) => side.map((segment) => segment.baseline);
  const top = Math.max(Math.min(...baselines(left)), Math.min(...baselines(right)));
  const bottom = Math.min(Math.max(...baselines(left)), Math.max(...baselines(right)));
  return bottom > top;
}
