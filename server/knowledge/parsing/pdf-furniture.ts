import type { TextLine } from './pdf-lines.ts';

const minPages = 4;
/** Left and right pages often differ, so each of two headers stands on less than half of the pages. */
const minShare = 0.4;
const edgeLines = 3;
const heightTolerance = 6;

const pageNumber =
  /^(?:[-–—·\s]*(?:第\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*页)?(?:\s*(?:[/／,，]|of|共)\s*(?:共\s*)?\d{1,4}\s*页?)?[-–—·\s]*|page\s+\d+(?:\s+of\s+\d+)?)$/i;

/**
 * Removes running headers, footers and page numbers: lines among the three outermost of a page that come again, digits
 * aside, at the same height on at least 40 % of the pages. Documents of fewer than four pages stay as they are.
 * `pages`: the lines of each page in reading order. Returns the same without those lines. Never throws.
 */
export function removeFurniture(pages: readonly (readonly TextLine[])[]): TextLine[][] {
  const filled = pages.filter((lines) => lines.length > 0).length;
  if (filled < minPages) return pages.map((lines) => [...lines]);
  const edges = pages.map(edgesOf);
  const seen = new Map<string, { baseline: number; pages: Set<number> }[]>();
  edges.forEach((lines, page) => {
    for (const line of lines) {
      const places = seen.get(keyOf(line)) ?? [];
      const place = places.find((known) => Math.abs(known.baseline - line.baseline) <= heightTolerance);
      if (place) place.pages.add(page);
      else places.push({ baseline: line.baseline, pages: new Set([page]) });
      seen.set(keyOf(line), places);
    }
  });
  const repeats = (line: TextLine) =>
    (seen.get(keyOf(line)) ?? []).some(
      (place) =>
        Math.abs(place.baseline - line.baseline) <= heightTolerance &&
        place.pages.size >= Math.max(3, filled * minShare),
    );
  return pages.map((lines, page) => {
    const dropped = new Set((edges[page] ?? []).filter(repeats));
    return lines.filter((line) => !dropped.has(line));
  });
}

function edgesOf(lines: readonly TextLine[]): TextLine[] {
  const byHeight = [...lines].sort((a, b) => a.baseline - b.baseline);
  return [...new Set([...byHeight.slice(0, edgeLines), ...byHeight.slice(-edgeLines)])];
}

function keyOf(line: TextLine): string {
  const text = line.text.trim();
  if (pageNumber.test(text)) return 'page number';
  return text.replace(/\d+/g, '0').replace(/\s+/g, '');
}
