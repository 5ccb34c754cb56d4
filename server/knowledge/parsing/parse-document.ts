import { type DocumentFormat, detectFormat } from './detect-format.ts';
import { ParseError } from './parse-error.ts';
import type { ParsedDocument } from './parsed-document.ts';

export { supportedExtensions } from './detect-format.ts';
export type { ParsedDocument } from './parsed-document.ts';

const maxBytes = 100 * 1024 * 1024;

type Parsed = Omit<ParsedDocument, 'characters'>;

/**
 * Reads a document into markdown (R3). `name`: file name, used in messages and to tell kinds of text apart; the format
 * itself is decided by content. `bytes`: at most 100 MB; not changed.
 *
 * Throws ParseError: `unsupported_format`, `empty_document` (also for a document without any text), `damaged_document`,
 * `encrypted_document`, `needs_ocr` (no page of a PDF has a text layer) or `too_large`. Anything a parser throws that is
 * not expected of it becomes `damaged_document`.
 */
export async function parseDocument(input: { name: string; bytes: Uint8Array }): Promise<ParsedDocument> {
  const { name, bytes } = input;
  if (bytes.length === 0) throw new ParseError('empty_document', `"${name}" is empty`);
  if (bytes.length > maxBytes) {
    throw new ParseError(
      'too_large',
      `"${name}" has ${Math.ceil(bytes.length / 1024 / 1024)} MB, at most 100 MB are read`,
    );
  }
  const parsed = await parseAs(detectFormat(name, bytes), name, bytes);
  // Half of an emoji cannot be stored in a database.
  const text = parsed.text.toWellFormed().replaceAll('\0', '');
  const characters = text.replace(/[\s\u200b]+/g, '').length;
  if (characters === 0) throw new ParseError('empty_document', `"${name}" holds no text`);
  return { ...parsed, text, characters };
}

async function parseAs(format: DocumentFormat, name: string, bytes: Uint8Array): Promise<Parsed> {
  try {
    return await parserOf(format)(name, bytes);
  } catch (cause) {
    if (cause instanceof ParseError) throw cause;
    throw new ParseError('damaged_document', `"${name}" cannot be read; it may be damaged`, cause);
  }
}

/** Parsers load on first use: a worker that reads text files never loads the PDF library. */
function parserOf(format: DocumentFormat): (name: string, bytes: Uint8Array) => Promise<Parsed> {
  switch (format) {
    case 'text':
      return async (name, bytes) => (await import('./parse-text.ts')).parseText(name, bytes);
    case 'markdown':
      return async (name, bytes) => (await import('./parse-text.ts')).parseMarkdown(name, bytes);
    case 'html':
      return async (name, bytes) => (await import('./parse-html.ts')).parseHtml(name, bytes);
    case 'docx':
      return async (name, bytes) => (await import('./parse-docx.ts')).parseDocx(name, bytes);
    case 'pdf':
      return async (name, bytes) => (await import('./parse-pdf.ts')).parsePdf(name, bytes);
  }
}
