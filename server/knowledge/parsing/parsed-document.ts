/** The text of a document and how it was won. */
export interface ParsedDocument {
  /** Markdown with `\n` line ends; never blank. */
  text: string;
  strategy: 'text' | 'markdown' | 'html' | 'docx' | 'pdf-text';
  /** Characters of `text` that are not white space. */
  characters: number;
  /** Null for formats without pages. */
  pages: number | null;
  /** What was dropped or needs attention, one sentence each. */
  warnings: string[];
}
