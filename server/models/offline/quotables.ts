import { splitSentences } from '../../text/sentences.ts';

/** A sentence that can be quoted. `quote`: it, with the list it announces or the head of its table, each as it stands there. */
export interface QuotableSentence {
  text: string;
  quote: string[];
}

const LIST_ITEM = /^(?:[（(]?[一二三四五六七八九十\d]+[)）、.．]|[-*•])/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_RULE = /^\s*\|[\s:|-]+\|\s*$/;
const MAX_LIST_CHARACTERS = 800;

/** What of a paragraph can be quoted, in order. The head of a table is quoted with a row, never alone. Never throws. */
export function quotables(content: string): QuotableSentence[] {
  const found: QuotableSentence[] = [];
  let head: string | null = null;
  const sentences = splitSentences(content).map((sentence) => sentence.text);
  for (const [index, text] of sentences.entries()) {
    if (TABLE_RULE.test(text)) continue;
    const isHead = TABLE_ROW.test(text) && TABLE_RULE.test(sentences[index + 1] ?? '');
    if (isHead) head = text;
    else if (!TABLE_ROW.test(text)) head = null;
    if (!isHead)
      found.push({ text, quote: head === null ? [withList(text, sentences.slice(index + 1))] : [head, text] });
  }
  return found;
}

/** A sentence that announces a list is nothing without the list. */
function withList(sentence: string, following: readonly string[]): string {
  if (!/[：:]$/.test(sentence)) return sentence;
  const items: string[] = [];
  let length = sentence.length;
  for (const item of following) {
    if (!LIST_ITEM.test(item) || length + item.length > MAX_LIST_CHARACTERS) break;
    items.push(item);
    length += item.length;
  }
  return [sentence, ...items].join(' ');
}
