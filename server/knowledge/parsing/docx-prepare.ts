import { mathToTex } from './docx-math.ts';
import { createNumberingCounter, type ListNumber } from './docx-numbering.ts';
import type { ParagraphStyle } from './docx-styles.ts';
import { attributeOf, escapeXml } from './docx-xml.ts';

interface NumberedParagraph {
  /** Offset behind the paragraph's properties, where its text begins. */
  readonly textStart: number;
  readonly start: number;
  readonly tag: string;
  readonly properties: string;
  readonly numId: string;
  readonly level: number;
  readonly isHeading: boolean;
  readonly number: ListNumber | null;
}

const paragraphStart = /(<w:p(?:\s[^>]*)?(?<!\/)>)\s*(<w:pPr>[\s\S]*?<\/w:pPr>|<w:pPr\/>)?/g;
const noNumbering = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';

/**
 * Writes into the text of a Word document what mammoth would lose: formulas as TeX, and list numbers that an HTML list
 * does not show (第三条, 1.2, a list that goes on after other text). Returns the changed word/document.xml. Never throws.
 */
export function prepareDocumentXml(
  documentXml: string,
  numberingXml: string,
  styles: ReadonlyMap<string, ParagraphStyle>,
): string {
  // Former properties of tracked changes are nested in the current ones.
  const current = documentXml.replace(/<w:pPrChange\b[\s\S]*?<\/w:pPrChange>/g, '');
  return writeMath(numberingXml === '' ? current : writeNumbers(current, numberingXml, styles));
}

function writeMath(xml: string): string {
  return xml
    .replace(/<m:oMathPara(?:\s[^>]*)?>|<\/m:oMathPara>|<m:oMathParaPr(?:\s[^>]*)?>[\s\S]*?<\/m:oMathParaPr>/g, '')
    .replace(/<m:oMath(?:\s[^>]*)?>([\s\S]*?)<\/m:oMath>/g, (_, formula: string) => run(mathToTex(formula)));
}

function run(text: string): string {
  return `<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`;
}

function writeNumbers(xml: string, numberingXml: string, styles: ReadonlyMap<string, ParagraphStyle>): string {
  const paragraphs = readNumberedParagraphs(xml, numberingXml, styles);
  let result = '';
  let done = 0;
  let continues = false;
  paragraphs.forEach((paragraph, index) => {
    const { number } = paragraph;
    const previous = paragraphs[index - 1];
    // mammoth begins a new list, at 1, wherever another list or plain text came between.
    const isNewList = previous?.numId !== paragraph.numId;
    if (paragraph.level === 0 || isNewList) continues = isNewList ? (number?.value ?? 1) > 1 : continues;
    const isWritten = number && number.label !== '' && (paragraph.isHeading || !number.isPlain || continues);
    if (!isWritten) return;
    const properties = paragraph.properties.replace(/<w:numPr\s*\/>|<w:numPr>[\s\S]*?<\/w:numPr>/g, '');
    const open = /^<w:pPr>/.test(properties) ? properties.slice(0, -'</w:pPr>'.length) : '<w:pPr>';
    result += `${xml.slice(done, paragraph.start)}${paragraph.tag}${open}${noNumbering}</w:pPr>${run(`${number.label} `)}`;
    done = paragraph.textStart;
  });
  return result + xml.slice(done);
}

/** All paragraphs in order; those without a number have an empty `numId`. */
function readNumberedParagraphs(
  xml: string,
  numberingXml: string,
  styles: ReadonlyMap<string, ParagraphStyle>,
): NumberedParagraph[] {
  const counter = createNumberingCounter(numberingXml);
  return Array.from(xml.matchAll(paragraphStart), (match) => {
    const [whole, tag = '', properties = ''] = match;
    const styleId = attributeOf(properties, 'w:pStyle');
    const style = styles.get(styleId);
    const own = attributeOf(properties, 'w:numId');
    const numId = own || style?.numId || '';
    const ownLevel = attributeOf(properties, 'w:ilvl');
    const level =
      ownLevel === '' ? (counter.levelOfStyle(numId, styleId) ?? (own ? 0 : (style?.numLevel ?? 0))) : Number(ownLevel);
    return {
      start: match.index,
      textStart: match.index + whole.length,
      tag,
      properties,
      numId: numId === '0' ? '' : numId,
      level,
      isHeading: (style?.headingLevel ?? null) !== null,
      number: numId === '' || numId === '0' ? null : counter.next(numId, level),
    };
  });
}
