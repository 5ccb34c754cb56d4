import { attributeOf, elementsOf, unescapeXml } from './docx-xml.ts';

export interface ParagraphStyle {
  readonly name: string;
  /** 1–9 for headings, 0 for the title of the document, null for text. */
  readonly headingLevel: number | null;
  /** List and level that the style numbers its paragraphs with; '' when it does not. */
  readonly numId: string;
  readonly numLevel: number;
}

const headingNames = /^(?:heading|标题|標題)\s*([1-9])$/i;
const titleNames = /^(?:title|标题|標題|book title)$/i;
/** Entries of a table of contents are based on headings in some templates. */
const contentsNames = /^(?:toc|目录|目錄)/i;
const maxHtmlLevel = 6;
const maxBases = 10;

/**
 * Reads the paragraph styles of a Word document. A style is a heading by its name ("heading 1", "标题 1"), else by the
 * outline level that it or a style it is based on sets, which is how styles in other languages and of organisations
 * show. `stylesXml`: word/styles.xml. Returns styles by their id. Never throws.
 */
export function readParagraphStyles(stylesXml: string): Map<string, ParagraphStyle> {
  const elements = new Map(
    elementsOf(stylesXml, 'w:style')
      .filter((element) => attributeOf(element, 'w:style', 'w:type') === 'paragraph')
      .map((element) => [attributeOf(element, 'w:style', 'w:styleId'), element]),
  );
  const chainOf = (id: string): string[] => {
    const chain: string[] = [];
    for (let next = elements.get(id); next && chain.length < maxBases; ) {
      chain.push(next);
      next = elements.get(attributeOf(next, 'w:basedOn'));
    }
    return chain;
  };
  return new Map([...elements.keys()].map((id) => [id, readStyle(chainOf(id))]));
}

/** `chain`: the style and those it is based on, nearest first. */
function readStyle(chain: readonly string[]): ParagraphStyle {
  const name = unescapeXml(attributeOf(chain[0] ?? '', 'w:name'));
  const levels = chain.map(levelOf).filter((level) => level !== null);
  const numbered = chain.find((element) => attributeOf(element, 'w:numId') !== '') ?? '';
  return {
    name,
    headingLevel: contentsNames.test(name) ? null : (levels[0] ?? null),
    numId: attributeOf(numbered, 'w:numId'),
    numLevel: Number(attributeOf(numbered, 'w:ilvl') || 0),
  };
}

function levelOf(element: string): number | null {
  const name = attributeOf(element, 'w:name');
  const named = headingNames.exec(name)?.[1];
  if (named) return Number(named);
  if (titleNames.test(name)) return 0;
  const outline = Number.parseInt(attributeOf(element, 'w:outlineLvl'), 10);
  return outline >= 0 && outline < 9 ? outline + 1 : null;
}

/** Writes the headings among styles as a style map for mammoth, one rule a style. Never throws. */
export function toStyleMap(styles: Iterable<ParagraphStyle>): string[] {
  return [...styles].flatMap(({ name, headingLevel }) => {
    if (headingLevel === null || name === '') return [];
    const element = headingLevel === 0 ? 'h1.title' : `h${Math.min(headingLevel, maxHtmlLevel)}`;
    return [`p[style-name='${name.replace(/[\\']/g, '\\$&')}'] => ${element}:fresh`];
  });
}
