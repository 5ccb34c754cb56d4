import { ParseError } from './parse-error.ts';
import { readZipDirectory } from './zip-directory.ts';

export type DocumentFormat = 'text' | 'markdown' | 'html' | 'docx' | 'pdf';

const formatOfExtension: Record<string, DocumentFormat> = {
  '.txt': 'text',
  '.text': 'text',
  '.log': 'text',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.xhtml': 'html',
  '.docx': 'docx',
  '.pdf': 'pdf',
};

/** Extensions of files worth offering to parseDocument, lower case, with the dot. */
export const supportedExtensions: readonly string[] = Object.keys(formatOfExtension);

/** Beginnings of binary files, as Latin-1; `kind` completes "…holds". */
const binaryKinds: readonly (readonly [signature: string, kind: string])[] = [
  ['\x89PNG\r\n', 'a picture'],
  ['\xff\xd8\xff', 'a picture'],
  ['GIF8', 'a picture'],
  ['II*\0', 'a picture'],
  ['MM\0*', 'a picture'],
  ['\x1f\x8b', 'a compressed archive'],
  ['7z\xbc\xaf\x27\x1c', 'a compressed archive'],
  ['Rar!\x1a\x07', 'a compressed archive'],
  ['\xfd7zXZ\0', 'a compressed archive'],
  ['BZh', 'a compressed archive'],
  ['\x7fELF', 'a program'],
  ['SQLite format 3\0', 'a database'],
  ['{\\rtf', 'a rich text document; save it as .docx'],
  ['ID3', 'sound'],
  ['OggS', 'sound or video'],
  ['wOFF', 'a font'],
];

const oleSignature = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const zipSignature = 'PK\x03\x04';
const emptyZipSignature = 'PK\x05\x06';

/**
 * Decides the format of a file by its content, and by the extension of its name only between kinds of text.
 * Text of an unknown extension is taken for plain text. Throws ParseError `unsupported_format`, `encrypted_document` or
 * `damaged_document` for everything that is not one of the five formats.
 */
export function detectFormat(name: string, bytes: Uint8Array): DocumentFormat {
  const head = latin1(bytes.subarray(0, 1024));
  const extension = extensionOf(name);
  if (head.includes('%PDF-')) return 'pdf';
  if (head.startsWith(zipSignature) || head.startsWith(emptyZipSignature)) return detectZip(name, extension, bytes);
  if (head.startsWith(oleSignature)) throw refuseOle(name, extension, bytes);
  for (const [signature, kind] of binaryKinds) {
    if (head.startsWith(signature)) throw unsupported(name, kind);
  }
  if (head.startsWith('MZ') && head.includes('\0')) throw unsupported(name, 'a program');
  if (/^RIFF[\s\S]{4}|^[\s\S]{4}ftyp/.test(head)) throw unsupported(name, 'sound, video or a picture');
  if (looksLikeHtml(bytes)) return 'html';
  const format = formatOfExtension[extension] ?? 'text';
  if (format === 'docx' || format === 'pdf') {
    throw new ParseError('damaged_document', `"${name}" is not a ${format} file, whatever its name says`);
  }
  return format;
}

function detectZip(name: string, extension: string, bytes: Uint8Array): DocumentFormat {
  const entries = readZipDirectory(bytes);
  if (entries?.some((entry) => /^word\/document\d*\.xml$/.test(entry.name))) return 'docx';
  if (extension === '.docx') {
    throw new ParseError('damaged_document', `"${name}" is a damaged Word document`);
  }
  throw unsupported(name, 'an archive or a kind of document that is not read');
}

/** Old Office files and encrypted new ones share this container; the names of the streams inside tell. */
function refuseOle(name: string, extension: string, bytes: Uint8Array): ParseError {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (stream: string) => buffer.includes(Buffer.from(stream, 'utf16le'));
  const isLegacy = has('WordDocument') || extension === '.doc';
  if (has('EncryptedPackage') || (!isLegacy && extension === '.docx')) {
    const message = `"${name}" is protected with a password; save it without one and upload it again`;
    return new ParseError('encrypted_document', message);
  }
  if (isLegacy) {
    const message = `"${name}" is in the old Word format (.doc); save it as .docx and upload it again`;
    return new ParseError('unsupported_format', message);
  }
  return unsupported(name, 'an old Office document; save it in the current format');
}

function unsupported(name: string, kind: string): ParseError {
  const message = `"${name}" holds ${kind}; supported are ${supportedExtensions.join(' ')}`;
  return new ParseError('unsupported_format', message);
}

/** UTF-16 pages are told by removing their zero bytes. */
function looksLikeHtml(bytes: Uint8Array): boolean {
  const head = latin1(bytes.subarray(0, 4096))
    .replace(/^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/, '')
    .replaceAll('\0', '');
  const start = head.replace(/^(?:\s+|<\?xml[^>]*\?>|<!--[\s\S]*?-->)+/, '');
  return /^<(?:!doctype\s+html|html|head|body)\b/i.test(start);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function extensionOf(name: string): string {
  return /\.[^./\\]+$/.exec(name)?.[0].toLowerCase() ?? '';
}
