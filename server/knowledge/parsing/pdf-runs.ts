import type { PDFPageProxy } from 'pdfjs-dist';
import { replaceRadicals } from './cjk-text.ts';

/** A piece of text with its place on the page. All lengths in points; `baseline` grows downwards from the top. */
export interface TextRun {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
  readonly size: number;
  readonly isRightToLeft: boolean;
}

export interface PageText {
  readonly runs: readonly TextRun[];
  /** Text that runs in another direction, in the order of the file. */
  readonly turned: readonly string[];
}

const maxTilt = 0.1;

/** Reads the text layer of a page. `runs` have no order that could be relied on. Throws what pdfjs throws. */
export async function readPageText(page: PDFPageProxy): Promise<PageText> {
  const viewport = page.getViewport({ scale: 1 });
  // pdfjs would take the Arabic ligature lam-alef apart before it turns the line around, and so swap its letters.
  const content = await page.getTextContent({ disableNormalization: true });
  const runs: TextRun[] = [];
  const turned: string[] = [];
  for (const item of content.items) {
    if (!('str' in item) || item.str.trim() === '') continue;
    const text = cleanText(item.str);
    const [a = 1, b = 0, , , x = 0, y = 0] = multiply(viewport.transform, item.transform);
    const [, , c = 0, d = 1] = multiply(viewport.transform, item.transform);
    if (Math.abs(Math.atan2(b, a)) > maxTilt) {
      turned.push(text.trim());
      continue;
    }
    const size = Math.hypot(c, d) || Math.hypot(a, b);
    const run = { left: x, right: x + item.width, baseline: y, size, isRightToLeft: item.dir === 'rtl' };
    runs.push({ text, ...run });
  }
  return { runs, turned };
}

const symbolMeanings: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  // Word sets bullets and boxes in Symbol and Wingdings, which arrive as private-use characters.
  [/[\uf0a7\uf0b7\uf0d8\uf06c\uf06e\uf0fc\uf076]/g, '•'],
  [/[\uf0a8\uf06f\uf071]/g, '☐'],
  [/[\uf0fe\uf052]/g, '☑'],
  // Fonts without a character map give control characters for bullets.
  [/^[\x80-\x9f](?=\s)/g, '•'],
  [/[\u00a0\u2000-\u200a\u202f]/g, ' '],
  [/[\0-\x1f\x7f-\x9f\u00ad\u200b]/g, ''],
];

function cleanText(text: string): string {
  // Ligatures and Arabic presentation forms only: NFKC for all would turn ， into a comma and ① into 1.
  const letters = text.normalize('NFC').replace(/[\ufb00-\ufdff\ufe70-\ufefc]/g, (form) => form.normalize('NFKC'));
  return symbolMeanings.reduce(
    (result, [pattern, meaning]) => result.replace(pattern, meaning),
    replaceRadicals(letters),
  );
}

/** Product of two PDF matrices `[a b c d e f]`. */
function multiply(first: readonly number[], second: readonly number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = first;
  const [p = 1, q = 0, r = 0, s = 1, t = 0, u = 0] = second;
  return [a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f];
}

/**
 * Whether a text layer can be used: at least two visible characters, and at most a third of them without a meaning
 * (U+FFFD, private use), which is what fonts without a character map give. Never throws.
 */
export function isUsableTextLayer(text: string): boolean {
  const visible = text.match(/[^\s\p{C}]|[\p{Co}\ufffd]/gu) ?? [];
  const meaningless = visible.filter((character) => /[\p{Co}\ufffd]/u.test(character)).length;
  return visible.length >= 2 && meaningless * 3 <= visible.length;
}
