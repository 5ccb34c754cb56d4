import { findMarkdownHeadings, readMarkdownLines } from '../splitting/markdown-lines.ts';
import { decodeText } from './decode-text.ts';
import { ParseError } from './parse-error.ts';
import type { ParsedDocument } from './parsed-document.ts';

type ParsedText = Pick<ParsedDocument, 'text' | 'strategy' | 'pages' | 'warnings'>;

/** Measured on random bytes (≥ 0.1) and on real files with a few bad bytes (≤ 0.01). */
const maxDamage = 0.03;

/**
 * Decodes a plain text file of any common encoding. `text` may be blank.
 * Throws ParseError `unsupported_format` when the bytes are no text in any encoding.
 */
export async function parseText(name: string, bytes: Uint8Array): Promise<ParsedText> {
  const { text, encoding, damage } = await decodeText(bytes);
  if (damage > maxDamage) {
    throw new ParseError('unsupported_format', `"${name}" holds binary data, not text`);
  }
  const warnings = damage > 0 ? [`some characters could not be decoded as ${encoding}`] : [];
  return { text, strategy: 'text', pages: null, warnings };
}

/**
 * Reads a markdown file. The text stays as it is, except that YAML front matter is removed; its title becomes a level-1
 * heading when the text has none. Throws what parseText throws.
 */
export async function parseMarkdown(name: string, bytes: Uint8Array): Promise<ParsedText> {
  const parsed = await parseText(name, bytes);
  const matter = /^---[ \t]*\n([\s\S]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(parsed.text);
  // Text between two rules at the top of a file is front matter only if it consists of keys.
  if (!matter || !/^[\w-]+[ \t]*:/m.test(matter[1] ?? '') || /\n\s*\n/.test(matter[1] ?? '')) {
    return { ...parsed, strategy: 'markdown' };
  }
  const body = parsed.text.slice(matter[0].length);
  const title = /^title[ \t]*:[ \t]*(['"]?)(.+?)\1[ \t]*$/m.exec(matter[1] ?? '')?.[2]?.trim();
  const headings = findMarkdownHeadings(readMarkdownLines(body));
  const needsTitle = title !== undefined && headings.every((heading) => heading.level > 1);
  return { ...parsed, strategy: 'markdown', text: needsTitle ? `# ${title}\n\n${body}` : body };
}
