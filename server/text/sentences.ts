/** A sentence with its place in the text it came from, in UTF-16 units. `text` is `source.slice(start, end)`. */
export interface Sentence {
  text: string;
  start: number;
  end: number;
}

/**
 * A full stop ends a sentence only before a space or the end, so that 3.14 and v2.10 stay whole. A row of dots is tried
 * from its first one only: from each of them it is quadratic (20,000 dots before a letter took 1.7 s).
 */
const END = /[。！？!?]+["'”’」』）)\]】]*|(?<!\.)\.+["'”’)\]]*(?=\s|$)|\n+/gu;
/** Shorter lines are lines of their own: items, headings, verses. In characters. */
const MIN_WRAPPED_LATIN = 50;
const MIN_WRAPPED_HAN = 30;
/** What begins something new: table, heading, quotation, list item, article. */
const NEW_START =
  /^\s*(?:[|#>*•·-]|\d+[.)、]|[（(][一二三四五六七八九十\d]+[)）]|[一二三四五六七八九十]+、|第[^\s]{1,8}[条章节编])/;
const ABBREVIATION = /(?:^|[\s(])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|etc|e\.g|i\.e|Inc|Ltd|Co|Art|Fig|U\.S)\.$/;

/** Cuts text into sentences, trimmed, blanks left out, in order. Linear; never throws. */
export function splitSentences(source: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  let lineStart = 0;
  for (const match of source.matchAll(END)) {
    const end = match.index + match[0].length;
    if (match[0].startsWith('\n')) {
      const isWrapped = match[0] === '\n' && isSoftWrap(source, { lineStart, lineEnd: match.index });
      lineStart = end;
      if (isWrapped) continue;
    }
    if (match[0].startsWith('.') && ABBREVIATION.test(source.slice(Math.max(start, end - 8), end))) continue;
    push(sentences, source, start, end);
    start = end;
  }
  push(sentences, source, start, source.length);
  return sentences;
}

/** A line that a margin broke goes on in the next one: long, without an end of its own, and followed by plain prose. */
function isSoftWrap(source: string, { lineStart, lineEnd }: { lineStart: number; lineEnd: number }): boolean {
  const line = source.slice(lineStart, lineEnd).trim();
  const isLong = line.length >= (/\p{Script=Han}/u.test(line) ? MIN_WRAPPED_HAN : MIN_WRAPPED_LATIN);
  if (!isLong || /[。！？!?.:：;；|]$/.test(line) || /^[|#]/.test(line)) return false;
  const nextEnd = source.indexOf('\n', lineEnd + 1);
  const next = source.slice(lineEnd + 1, nextEnd < 0 ? undefined : nextEnd).slice(0, 40);
  return next.trim() !== '' && !NEW_START.test(next);
}

function push(sentences: Sentence[], source: string, from: number, to: number): void {
  const raw = source.slice(from, to);
  const text = raw.trim();
  if (text === '') return;
  const start = from + raw.indexOf(text);
  sentences.push({ text, start, end: start + text.length });
}
