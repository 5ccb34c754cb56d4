import { parseChineseNumeral } from '../../text/chinese-numerals.ts';
import { normalizeLawName, strictLawName } from './law-names.ts';

/**
 * A place that a query names. `number`: digits, `234-1` for 第二百三十四条之一, `3.2.1` for a section. `names`: spellings the
 * text may be known by, longest first; empty when the query names no text.
 */
export interface Reference {
  kind: 'article' | 'section';
  number: string;
  names: string[];
}

const NUMERAL = '[〇零一二两三四五六七八九十百千万\\d]{1,12}';
const ARTICLE = `第\\s*(${NUMERAL})\\s*条(?:\\s*之\\s*(${NUMERAL}))?`;
const ENGLISH_ARTICLE = '\\b(?:articles?|art\\.)\\s*(\\d{1,5}[a-z]?)\\b';
const SECTION =
  '(?:\\b(?:section|sec\\.|clause|chapter|appendix)|[§第])\\s*(\\d{1,4}(?:\\.\\d{1,4}){0,5})(?![\\d.-]*\\d)\\s*(?![条章款项编])|(?<![\\w.])(\\d{1,4}(?:\\.\\d{1,4}){2,5})(?![\\w.]*\\w)';
const IN_QUERY = new RegExp(`${ARTICLE}|${ENGLISH_ARTICLE}|${SECTION}`, 'gu');

/** Chapters between a law's name and the article say nothing more. */
const TRAILING_DIVISION = new RegExp(`(?:第\\s*${NUMERAL}\\s*[编章节][^第]{0,30})+$`, 'u');
/** 第20条和第21条: the second belongs to the law of the first. */
const ONLY_CONNECTOR = /^(?:第[^条]{1,12}[款项目])*[\s、，,和与及或至到~-]*$/u;
/** The longest name of a text in the statute corpus has 76 characters without 中华人民共和国 (1,339 names, 2026-12-01). */
const MAX_NAME_LENGTH = 90;
const MAX_REFERENCES = 8;
const MAX_QUERY_LENGTH = 2_000;
/** A paragraph that holds more articles than this is a list of them. */
const MAX_ARTICLES_IN_PARAGRAPH = 40;
/** The place of a title before which the name of the text stands. */
const DIVISION = new RegExp(`第\\s*${NUMERAL}\\s*[编章节条]|\\b(?:article|art\\.|section|chapter|part)\\s*\\d`, 'u');

/**
 * The places a query names: `行政复议法第20条第二款`, `《刑法》第二百三十四条之一`, `第20条`, `Article 5 of the Foo Act`,
 * `section 3.2.1`. At most 8, in order. Never throws.
 */
export function parseReferences(query: string): Reference[] {
  const text = query.slice(0, MAX_QUERY_LENGTH).normalize('NFKC').toLowerCase();
  const references: Reference[] = [];
  let end = 0;
  for (const match of text.matchAll(IN_QUERY)) {
    const before = text.slice(end, match.index);
    const previous = references.at(-1);
    const after = text.slice(match.index + match[0].length);
    const names =
      previous && ONLY_CONNECTOR.test(before) ? previous.names : [...namesBefore(before), ...namesAfter(after)];
    const reference = toReference(match, names);
    if (reference) references.push(reference);
    end = match.index + match[0].length;
    if (references.length === MAX_REFERENCES) break;
  }
  return references;
}

function toReference(match: RegExpMatchArray, names: string[]): Reference | null {
  const [, article, branch, english, marked, bare] = match;
  if (article !== undefined) {
    const number = articleNumber(article, branch);
    return number === null ? null : { kind: 'article', number, names };
  }
  if (english !== undefined) return { kind: 'article', number: english, names };
  return { kind: 'section', number: marked ?? bare ?? '', names };
}

function articleNumber(numeral: string, branch: string | undefined): string | null {
  const number = toNumber(numeral);
  if (number === null) return null;
  const part = branch === undefined ? null : toNumber(branch);
  return part === null ? String(number) : `${number}-${part}`;
}

function toNumber(numeral: string): number | null {
  return /^\d+$/.test(numeral) ? Number(numeral) : parseChineseNumeral(numeral);
}

/** Every ending of what stands before the article: where the name begins is for the index to say. */
function namesBefore(before: string): string[] {
  const text = before.replace(TRAILING_DIVISION, '');
  const sources = new Set([strictLawName(text), normalizeLawName(text)]);
  const names: string[] = [];
  for (const source of sources) {
    const characters = [...source].slice(-MAX_NAME_LENGTH);
    for (let start = 0; start <= characters.length - 2; start += 1) names.push(characters.slice(start).join(''));
  }
  return longestFirst(names.flatMap((name) => [name, normalizeLawName(name)]));
}

/** `Article 5 of the Foo Act (2020) says …`: every beginning of what follows `of`. */
function namesAfter(after: string): string[] {
  const following = /^\s*(?:\([\w.]+\)\s*)*(?:of|in|from)\s+(?:the\s+)?([^,;?!。，；？！]{2,120})/u.exec(after)?.[1];
  if (following === undefined) return [];
  const words = following.trim().split(/\s+/).slice(0, 12);
  return longestFirst(words.map((_, index) => normalizeLawName(words.slice(0, index + 1).join(' '))));
}

function longestFirst(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => name.length > 1).sort((a, b) => b.length - a.length);
}

/** How a text is named: `any` by no name, `strict` by its whole name, `loose` without edition: 规则(试行) as 规则. */
export type Naming = { kind: 'any' } | { kind: 'strict' | 'loose'; name: string };

/** The index term of an article or section of a text so named. Never throws. */
export function referenceTerm({ kind, number }: Pick<Reference, 'kind' | 'number'>, naming: Naming): string {
  const place = `§${kind === 'article' ? '' : 's'}${number}`;
  if (naming.kind === 'any') return place;
  return `${place}${naming.kind === 'strict' ? '§' : '~'}${naming.name.slice(0, MAX_NAME_LENGTH)}`;
}

/**
 * The index terms of the places that a paragraph is: by its title, or else by the beginnings of its lines; with the names
 * of its text from title and document name, and without. Never throws.
 */
export function paragraphReferences(paragraph: { title: string; content: string; documentName: string }): string[] {
  const title = paragraph.title.normalize('NFKC').toLowerCase();
  const places = placesOf(title, paragraph.content);
  if (places.length === 0) return [];
  const namings: Naming[] = [{ kind: 'any' }, ...namesOf(title), ...namesOf(paragraph.documentName)];
  return [...new Set(places.flatMap((place) => namings.map((naming) => referenceTerm(place, naming))))];
}

type Place = Pick<Reference, 'kind' | 'number'>;

const TITLE_ARTICLE = new RegExp(`${ARTICLE}|${ENGLISH_ARTICLE}`, 'gu');
const TITLE_SECTION = /(?:^|[\s>/|])(?:section|sec\.|§|第)?\s*(\d{1,4}(?:\.\d{1,4}){0,5})(?:\.?\s|[、:：节]|$)/gu;
const LINE_PLACE = new RegExp(
  `^[\\s#*>-]{0,12}(?:${ARTICLE}|(?:article|art\\.)\\s*(\\d{1,5}[a-z]?)\\b|(?:section\\s+)?(\\d{1,4}(?:\\.\\d{1,4}){1,5})\\.?\\s)`,
  'gmu',
);

function placesOf(title: string, content: string): Place[] {
  const article = [...title.matchAll(TITLE_ARTICLE)].at(-1);
  if (article) return toPlaces([article]);
  const section = [...title.matchAll(TITLE_SECTION)].at(-1)?.[1];
  const inTitle: Place[] = section === undefined ? [] : [{ kind: 'section', number: section }];
  const lines = [...content.normalize('NFKC').toLowerCase().matchAll(LINE_PLACE)].slice(0, MAX_ARTICLES_IN_PARAGRAPH);
  return [...inTitle, ...toPlaces(lines)];
}

function toPlaces(matches: readonly RegExpMatchArray[]): Place[] {
  return matches.flatMap(([, numeral, branch, english, section]): Place[] => {
    if (section !== undefined) return [{ kind: 'section', number: section }];
    const number = numeral === undefined ? english : articleNumber(numeral, branch);
    return number === undefined || number === null ? [] : [{ kind: 'article', number }];
  });
}

function namesOf(text: string): Naming[] {
  const plain = text.normalize('NFKC').toLowerCase();
  const head = plain.split(DIVISION)[0] ?? '';
  const first = head.trim().split(/[\s>›»|]+/)[0] ?? '';
  return [...new Set([head, first])].flatMap((name): Naming[] => {
    const strict = strictLawName(name);
    const loose = normalizeLawName(name);
    const namings: Naming[] = strict.length > 1 ? [{ kind: 'strict', name: strict }] : [];
    return loose.length > 1 && loose !== strict ? [...namings, { kind: 'loose', name: loose }] : namings;
  });
}
