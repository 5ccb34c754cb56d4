import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { ParseError } from './parse-error.ts';
import type { ParsedDocument } from './parsed-document.ts';
import { removeFurniture } from './pdf-furniture.ts';
import { findPdfHeadings } from './pdf-headings.ts';
import { buildLines, type TextLine } from './pdf-lines.ts';
import { readOutline } from './pdf-outline.ts';
import { writeParagraphs } from './pdf-paragraphs.ts';
import { isUsableTextLayer, readPageText } from './pdf-runs.ts';

type ParsedPdf = Pick<ParsedDocument, 'text' | 'strategy' | 'pages' | 'warnings'>;

const maxPages = 3000;
const maxNamedPages = 30;

/**
 * Reads the text layer of a PDF into markdown, in reading order and without running headers. Pages that hold no usable
 * text but do show something are named in a warning; they need OCR (R3).
 *
 * Throws ParseError `encrypted_document`, `damaged_document`, `too_large` (more than 3,000 pages), or `needs_ocr` when no
 * page has usable text.
 */
export async function parsePdf(name: string, bytes: Uint8Array): Promise<ParsedPdf> {
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const task = getDocument({
    // pdfjs takes the buffer away from its owner, who may still need it.
    data: Uint8Array.from(bytes),
    ...resourceDirectories(),
    cMapPacked: true,
    isEvalSupported: false,
    useSystemFonts: false,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    return await readDocument(name, await task.promise);
  } catch (cause) {
    throw cause instanceof ParseError ? cause : translate(name, cause);
  } finally {
    await task.destroy();
  }
}

function resourceDirectories(): { cMapUrl: string; standardFontDataUrl: string; wasmUrl: string } {
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const directory = (part: string) => join(root, part) + sep;
  return {
    cMapUrl: directory('cmaps'),
    standardFontDataUrl: directory('standard_fonts'),
    wasmUrl: directory('wasm'),
  };
}

function translate(name: string, cause: unknown): ParseError {
  if (cause instanceof Error && cause.name === 'PasswordException') {
    const message = `"${name}" is protected with a password; save it without one and upload it again`;
    return new ParseError('encrypted_document', message, cause);
  }
  return new ParseError('damaged_document', `"${name}" is a damaged PDF`, cause);
}

async function readDocument(name: string, document: PDFDocumentProxy): Promise<ParsedPdf> {
  if (document.numPages > maxPages) {
    throw new ParseError('too_large', `"${name}" has ${document.numPages} pages, at most ${maxPages} are read`);
  }
  const pages: TextLine[][] = [];
  const withoutText: number[] = [];
  const turned: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const content = await readPageText(page);
    const text = content.runs.map((run) => run.text).join('') + content.turned.join('');
    const isUsable = isUsableTextLayer(text);
    pages.push(isUsable ? buildLines(content.runs, number - 1) : []);
    if (isUsable) turned.push(...content.turned);
    else if (await showsSomething(page)) withoutText.push(number);
    page.cleanup();
  }
  if (withoutText.length > 0 && pages.every((lines) => lines.length === 0) && turned.length === 0) {
    throw new ParseError('needs_ocr', `no page of "${name}" holds text; it is a scan that needs OCR`);
  }
  const lines = removeFurniture(pages).flat();
  const levels = findPdfHeadings(lines, await readOutline(document));
  const text = [writeParagraphs(lines, levels), turned.join('\n')].filter((part) => part !== '').join('\n\n');
  return { text, strategy: 'pdf-text', pages: document.numPages, warnings: ocrWarnings(withoutText) };
}

/** A page without any paint operation is blank, not a scan. */
async function showsSomething(page: PDFPageProxy): Promise<boolean> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const painting = new Set<number>([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
    OPS.paintImageXObjectRepeat,
    OPS.paintImageMaskXObjectRepeat,
    OPS.paintImageMaskXObjectGroup,
    OPS.paintInlineImageXObjectGroup,
    OPS.shadingFill,
    OPS.showText,
    OPS.constructPath,
  ]);
  const { fnArray } = await page.getOperatorList();
  return fnArray.some((operator) => painting.has(operator));
}

function ocrWarnings(pages: readonly number[]): string[] {
  if (pages.length === 0) return [];
  const named = pages.slice(0, maxNamedPages).join(', ');
  const more = pages.length > maxNamedPages ? ` and ${pages.length - maxNamedPages} more` : '';
  const isOne = pages.length === 1;
  return [
    `${isOne ? 'page' : 'pages'} ${named}${more} ${isOne ? 'holds' : 'hold'} no text and ${isOne ? 'needs' : 'need'} OCR`,
  ];
}
