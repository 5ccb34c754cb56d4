import { guessEastAsian } from './legacy-encoding-guess.ts';
import { guessUtf16 } from './utf16-guess.ts';

export interface DecodedText {
  /** `\n` line ends, no byte order mark, no control characters but newline and tab. */
  text: string;
  /** Lower-case name, e.g. `utf-8`, `gb18030`. */
  encoding: string;
  /** Share (0–1) of characters that were control characters or could not be decoded: high for binary data. */
  damage: number;
}

/** jschardet is quadratic on some inputs; this much is enough to tell. */
const detectionBytes = 65_536;
const minConfidence = 0.3;
const singleByte = /^(?:windows-125\d|iso-?8859-\d+|koi8-r|maccyrillic|ibm8\d\d|tis-620)$/;
const removable = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/**
 * Decodes a text file of unknown encoding: byte order mark, strict UTF-8, UTF-16 by its byte pattern, `declared` (the
 * charset a html page names), detection, and GB18030 when nothing is certain. A wrong declaration does not matter for
 * valid UTF-8. Never throws; undecodable bytes become U+FFFD and count as damage.
 */
export async function decodeText(bytes: Uint8Array, declared?: string): Promise<DecodedText> {
  const marked = byteOrderMark(bytes);
  if (marked) return finish(await decodeAs(bytes.subarray(marked.length), marked.encoding), marked.encoding);
  const hasZero = bytes.subarray(0, detectionBytes).includes(0);
  const zeroPattern = hasZero ? guessUtf16(bytes) : null;
  if (zeroPattern) return finish(await decodeAs(bytes, zeroPattern), zeroPattern);
  const utf8 = decodeUtf8(bytes);
  if (utf8 !== null) return finish(utf8, 'utf-8');
  const encoding = guessUtf16(bytes) ?? (await usableName(declared)) ?? (await detect(bytes));
  return finish(await decodeAs(bytes, encoding), encoding);
}

function finish(decoded: string, encoding: string): DecodedText {
  const damaged = (decoded.match(removable)?.length ?? 0) + (decoded.match(/\ufffd/g)?.length ?? 0);
  const text = decoded
    .replace(/\r\n?/g, '\n')
    .replace(removable, '')
    .replace(/^\ufeff/, '');
  return { text, encoding, damage: decoded.length === 0 ? 0 : damaged / decoded.length };
}

function byteOrderMark(bytes: Uint8Array): { encoding: string; length: number } | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: 'utf-8', length: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: 'utf-16le', length: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', length: 2 };
  return null;
}

/** Strict, but forgives a last character that was cut off and one bad byte among many good ones. */
function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not strict UTF-8: the share of bad sequences decides below.
  }
  const lenient = new TextDecoder('utf-8').decode(bytes);
  const bad = lenient.match(/\ufffd/g)?.length ?? 0;
  const good = lenient.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
  return good >= 20 * bad ? lenient : null;
}

async function decodeAs(bytes: Uint8Array, encoding: string): Promise<string> {
  if (encoding === 'utf-8') return new TextDecoder('utf-8').decode(bytes);
  const iconv = await import('iconv-lite');
  return iconv.default.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding);
}

/** Web pages that say gb2312 use characters of its supersets all the time; browsers decode them as GB18030 too. */
async function usableName(declared: string | undefined): Promise<string | null> {
  const name = declared?.trim().toLowerCase();
  // A page that declares UTF-16 in ASCII letters is not UTF-16, and one that is not valid UTF-8 lies about that.
  if (!name || /^utf-?(?:8|16)/.test(name)) return null;
  const iconv = await import('iconv-lite');
  if (!iconv.default.encodingExists(name)) return null;
  return /^(?:gb2312|gbk|gb_2312-80|x-gbk)$/.test(name) ? 'gb18030' : name;
}

async function detect(bytes: Uint8Array): Promise<string> {
  const sample = bytes.subarray(0, detectionBytes);
  const eastAsian = guessEastAsian(sample);
  if (eastAsian) return eastAsian;
  const jschardet = await import('jschardet');
  const found = jschardet.default.detect(Buffer.from(sample));
  const name = found.encoding?.toLowerCase() ?? '';
  const iconv = await import('iconv-lite');
  if (name === '' || /^(?:ascii|utf-|gb)/.test(name) || !iconv.default.encodingExists(name)) return 'gb18030';
  // jschardet is sure of none of the encodings of one byte (0.1 for plain French), but what fits no East Asian one and
  // has its high bytes singly is Western; text of nothing but high bytes is Russian or Greek only with some certainty.
  const isWestern = singleByte.test(name) && !hasLongHighRuns(sample);
  return isWestern || found.confidence >= minConfidence ? name : 'gb18030';
}

/** Letters with accents come singly; in Chinese, Russian and Greek most bytes above 7F stand in runs. */
function hasLongHighRuns(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  const inRuns = (text.match(/[\x80-\xff]{3,}/g) ?? []).reduce((sum, run) => sum + run.length, 0);
  return inRuns > (text.match(/[\x80-\xff]/g)?.length ?? 0) * 0.5;
}
