import { prepareDocumentXml } from './docx-prepare.ts';
import { readParagraphStyles, toStyleMap } from './docx-styles.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { ParseError } from './parse-error.ts';
import { openHtml } from './parse-html.ts';
import type { ParsedDocument } from './parsed-document.ts';
import { readZipDirectory, replaceZipEntry, unpackZipEntry, type ZipEntry } from './zip-directory.ts';

type ParsedDocx = Pick<ParsedDocument, 'text' | 'strategy' | 'pages' | 'warnings'>;

const maxUnpackedBytes = 300 * 1024 * 1024;
/** Real documents unpack to at most about 30 times their size; a bomb to about 1,000 times. */
const maxRatio = 200;
const ratioFreeBytes = 20 * 1024 * 1024;
/** XML that mammoth builds a tree of in memory, about 20 times its size. */
const maxXmlBytes = 60 * 1024 * 1024;

/**
 * Turns a Word document (.docx) into markdown: headings by style, lists, tables, notes. Pictures are dropped and counted
 * in a warning. `text` may be blank.
 *
 * Throws ParseError `damaged_document`, or `too_large` when it unpacks to more than 300 MB or to 200 times its size; that
 * is checked before anything is unpacked.
 */
export async function parseDocx(name: string, bytes: Uint8Array): Promise<ParsedDocx> {
  const entries = readZipDirectory(bytes);
  if (!entries) throw damaged(name);
  refuseBomb(name, entries);
  try {
    const { html, images } = await toHtml(bytes, entries);
    const document = await openHtml(html);
    tidy(document.body);
    const warnings = images > 0 ? [`${images} image(s) dropped`] : [];
    return { text: await htmlToMarkdown(document.body), strategy: 'docx', pages: null, warnings };
  } catch (cause) {
    throw damaged(name, cause);
  }
}

function damaged(name: string, cause?: unknown): ParseError {
  return new ParseError('damaged_document', `"${name}" is a damaged Word document`, cause);
}

function refuseBomb(name: string, entries: readonly ZipEntry[]): void {
  const packed = entries.reduce((sum, entry) => sum + entry.compressedSize, 0);
  const unpacked = entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0);
  const xml = entries.filter((entry) => entry.name.endsWith('.xml'));
  const largestXml = xml.reduce((largest, entry) => Math.max(largest, entry.uncompressedSize), 0);
  const isBomb = unpacked > ratioFreeBytes && unpacked > packed * maxRatio;
  if (unpacked > maxUnpackedBytes || largestXml > maxXmlBytes || isBomb) {
    const size = Math.ceil(unpacked / 1024 / 1024);
    throw new ParseError('too_large', `"${name}" would unpack to ${size} MB, which is more than is read`);
  }
}

async function toHtml(bytes: Uint8Array, entries: readonly ZipEntry[]): Promise<{ html: string; images: number }> {
  const { default: mammoth } = await import('mammoth');
  const unpack = (name: RegExp) => {
    const entry = entries.find((candidate) => name.test(candidate.name));
    return entry ? unpackZipEntry(bytes, entry, maxXmlBytes).toString('utf8') : '';
  };
  const styles = readParagraphStyles(unpack(/^word\/styles\d*\.xml$/));
  const main = entries.find((entry) => /^word\/document\d*\.xml$/.test(entry.name)) as ZipEntry;
  const xml = prepareDocumentXml(unpack(/^word\/document\d*\.xml$/), unpack(/^word\/numbering\d*\.xml$/), styles);
  let images = 0;
  const { value } = await mammoth.convertToHtml(
    { buffer: replaceZipEntry(bytes, entries, main, Buffer.from(xml)) },
    {
      styleMap: toStyleMap(styles.values()),
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement(async () => {
        images += 1;
        return { src: '' };
      }),
    },
  );
  return { html: value, images };
}

function tidy(body: Element): void {
  for (const image of body.querySelectorAll('img')) image.remove();
  // The arrows that lead from a note back to its place.
  for (const link of body.querySelectorAll('a[href^="#footnote-ref"], a[href^="#endnote-ref"]')) link.remove();
  demoteBelowTitle(body);
}

/** A document with a Title has its sections one level below it, though Word counts both from 1. */
function demoteBelowTitle(body: Element): void {
  if (!body.querySelector('h1.title')) return;
  for (const heading of body.querySelectorAll('h1:not(.title), h2, h3, h4, h5')) {
    const level = Number(heading.tagName.slice(1)) + 1;
    const lower = body.ownerDocument.createElement(`h${level}`);
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  }
}
