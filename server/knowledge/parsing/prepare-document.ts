import { countTokens } from '../../models/tokens.ts';
import { storableText } from '../../text/storable.ts';
import { splitParagraphs } from '../splitting/split-paragraphs.ts';
import { parseDocument } from './parse-document.ts';

/** A document ready to be stored. `characters` counts its whole text. */
export interface PreparedDocument {
  strategy: string;
  characters: number;
  pages: number | null;
  warnings: string[];
  paragraphs: PreparedParagraph[];
}

export interface PreparedParagraph {
  /** At most 255 characters. */
  title: string;
  content: string;
  /** Estimated tokens of title and content (R40). */
  tokenCount: number;
}

/** Parses, splits and counts one file. Throws ParseError. Slow: runs in a worker thread. */
export async function prepareDocument(file: { name: string; bytes: Uint8Array }): Promise<PreparedDocument> {
  const { text, strategy, characters, pages, warnings } = await parseDocument(file);
  const paragraphs = splitParagraphs(storableText(text)).map(({ title, content }) => ({
    title,
    content,
    tokenCount: countTokens(title) + countTokens(content),
  }));
  return { strategy, characters, pages, warnings, paragraphs };
}
