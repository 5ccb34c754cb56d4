import { parseChineseNumeral } from '../../text/chinese-numerals.ts';

/** The divisions of a Chinese statute, outermost first: book, part of a book, chapter, section, article. */
export const statuteDivisions = ['编', '分编', '章', '节', '条'] as const;

export type StatuteDivision = (typeof statuteDivisions)[number];

const numeral = '[〇零○一二三四五六七八九十百千万两\\d０-９]+';
const lineStart = '^[\\s\\u200b\\ufeff]*';
const articleName = new RegExp(`${lineStart}(?:\\*\\*|__)?(第[ 　]*${numeral}[ 　]*条(?:之${numeral})?)`);
const divisionLine = new RegExp(
  `^(?:\\*\\*|__)?第\\s*(${numeral})\\s*(分编|[编章节])(?!规定|[所的中至和与及或以、，,])(.*)$`,
);

/** A division heading is a name, not a sentence; the longest of 1,351 statutes is 46 characters. */
const maxDivisionHeadingLength = 60;

/** A line that may begin an article. `length`: UTF-16 units of the line up to the end of the article's name. */
export interface ArticleStart {
  readonly name: string;
  /** 0 for a numeral that has no value. */
  readonly number: number;
  /** Whether it is an inserted article such as 第一百二十条之一. */
  readonly isInserted: boolean;
  readonly length: number;
  /** Whether a space, a colon or the end of the line follows the name. */
  readonly isSeparated: boolean;
  readonly rest: string;
}

/** Reads `第X条` or `第X条之Y` at the start of a line (Chinese numerals or digits). Returns null for any other line. */
export function readArticleStart(line: string): ArticleStart | null {
  const match = articleName.exec(line);
  const found = match?.[1];
  if (!match || !found) return null;
  const name = found.replace(/\s+/g, '');
  let length = match[0].length;
  const bold = line.slice(length).match(/^(?:\*\*|__)/);
  if (bold && /\*\*|__/.test(match[0])) length += 2;
  const rest = line.slice(length);
  return {
    name,
    number: parseChineseNumeral(name.slice(1, name.indexOf('条'))) ?? 0,
    isInserted: name.includes('之'),
    length,
    isSeparated: /^(?:[\s　:：\u200b]|$)/.test(rest),
    rest: rest.trim(),
  };
}

/** Says which division (编, 分编, 章, 节) a heading text or a line on its own names; null when it names none. */
export function readDivision(line: string): Exclude<StatuteDivision, '条'> | null {
  if (line.length > 2 * maxDivisionHeadingLength) return null;
  const text = line.replace(/^[\s\u200b\ufeff]+|[\s\u200b]+$/g, '');
  if (text.length > maxDivisionHeadingLength) return null;
  const match = divisionLine.exec(text);
  if (!match) return null;
  const rest = match[3] ?? '';
  if (/[。；;，,：:]$/.test(rest) || /[。；]/.test(rest)) return null;
  const division = statuteDivisions.find((candidate) => candidate === match[2]);
  return division === undefined || division === '条' ? null : division;
}
