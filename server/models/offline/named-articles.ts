import { numeralsToDigits } from '../../text/chinese-numerals.ts';
import type { EvidencePassage } from '../chat-model.ts';

/** An article that a question names: `行政复议法第二十条` → text 行政复议法, article 第20条. `text` is empty where none is named. */
export interface NamedArticle {
  text: string;
  article: string;
}

const ARTICLE =
  /(?:《([^《》]{2,40})》|([\p{Script=Han}]{1,30}(?:法|条例|规定|办法|细则|解释|决定|规则)))?\s*(第\d+条(?:之\d+)?)/gu;

const ANOTHER_TEXT = /^》?\p{Script=Han}*(?:条例|细则|解释|规定|办法|决定|规则)/u;

/** The articles that a text names, in order. Never throws. */
export function namedArticles(text: string): NamedArticle[] {
  return [...fold(text).matchAll(ARTICLE)].map((match) => ({
    text: match[1] ?? match[2] ?? '',
    article: match[3] ?? '',
  }));
}

/** Whether a passage IS that article: its title ends with it and its names hold the text's. */
export function isArticle(passage: Pick<EvidencePassage, 'document' | 'title'>, named: NamedArticle): boolean {
  const title = fold(passage.title).trim();
  return title.endsWith(named.article) && names(`${fold(passage.document)} ${title}`, named.text);
}

/** 行政复议法 names the law, not 行政复议法实施条例, nor an interpretation of it. */
function names(heading: string, text: string): boolean {
  if (text === '') return true;
  let at = heading.indexOf(text);
  while (at >= 0) {
    if (!ANOTHER_TEXT.test(heading.slice(at + text.length))) return true;
    at = heading.indexOf(text, at + 1);
  }
  return false;
}

function fold(text: string): string {
  return numeralsToDigits(text.normalize('NFKC')).replace(/之([一二三四五六七八九十]+)/g, (whole) =>
    numeralsToDigits(whole),
  );
}
