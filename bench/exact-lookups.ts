import { parseChineseNumeral } from '../server/text/chinese-numerals.ts';
import type { CorpusParagraph } from './bench-data.ts';

/** A reference to one article, and the paragraphs that must fill the first places (old versions share name and number). */
export interface ExactLookup {
  query: string;
  wanted: ReadonlySet<string>;
}

const ARTICLE = /第[〇零一二三四五六七八九十百千]+条(?:之[一二三四五六七八九十]+)?$/u;
const STATE = '中华人民共和国';

/** Ways people write a reference: whole name, short name, quotation marks, digits, with words around. */
const FORMS: ((name: string, short: string, article: string, digits: string) => string)[] = [
  (name, _short, article) => `${name}${article}`,
  (_name, short, article) => `${short}${article}`,
  (name, _short, article) => `《${name}》${article}`,
  (_name, short, _article, digits) => `${short}${digits}`,
  (_name, short, _article, digits) => `《${short}》${digits}第一款`,
  (_name, short, article) => `请问${short}${article}是怎么规定的？`,
];

/** `count` references spread evenly over the corpus's articles, the forms in turn; none when it has no articles. */
export function exactLookups(corpus: readonly CorpusParagraph[], count: number): ExactLookup[] {
  const articles = corpus.flatMap((paragraph) => articleOf(paragraph) ?? []);
  const groups = new Map<string, Set<string>>();
  for (const { key, short, article } of articles) {
    const id = `${short}${article}`;
    groups.set(id, (groups.get(id) ?? new Set()).add(key));
  }
  const step = Math.max(1, Math.floor(articles.length / count));
  return articles
    .filter((_, index) => index % step === 0)
    .slice(0, count)
    .map(({ name, short, article }, index) => ({
      query: FORMS[index % FORMS.length]?.(name, short, article, withDigits(article)) ?? '',
      wanted: groups.get(`${short}${article}`) ?? new Set(),
    }));
}

function articleOf({ key, title }: CorpusParagraph) {
  const article = ARTICLE.exec(title)?.[0];
  const name = /^\S+/.exec(title)?.[0];
  if (article === undefined || name === undefined || name === article) return null;
  return { key, name, short: name.replaceAll(STATE, ''), article };
}

function withDigits(article: string): string {
  return article.replace(/[〇零一二三四五六七八九十百千]+/gu, (numeral) => String(parseChineseNumeral(numeral)));
}
