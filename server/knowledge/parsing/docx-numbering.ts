import { attributeOf, elementsOf, unescapeXml } from './docx-xml.ts';
import { formatNumber } from './number-formats.ts';

interface NumberingLevel {
  readonly format: string;
  /** Text with placeholders, such as `第%1条` or `%1.%2`. */
  readonly text: string;
  readonly start: number;
  readonly styleId: string;
  /** Whether all placeholders are written in decimals. */
  readonly isLegal: boolean;
}

interface NumberedList {
  readonly abstractId: string;
  readonly levels: ReadonlyMap<number, NumberingLevel>;
  /** Numbers that this use of the list begins with again. */
  readonly restarts: ReadonlyMap<number, number>;
}

/** Number of one paragraph. `value`: the count of its own level. */
export interface ListNumber {
  readonly label: string;
  readonly value: number;
  /** Whether an HTML list shows the same (`3.`, `3)`, `3、`); bullets count as well. */
  readonly isPlain: boolean;
}

/** Counts through the numbered paragraphs of a document, in order. */
export interface NumberingCounter {
  /** The next number of a list; null for an unknown list and for levels without a number. */
  next(numId: string, level: number): ListNumber | null;
  /** The level of a list whose paragraphs have a style; null when the list does not say. */
  levelOfStyle(numId: string, styleId: string): number | null;
}

/**
 * Reads the lists of a Word document. Word stores list numbers not as text but as rules, and mammoth keeps only "ordered
 * or not", so "第三条" would be lost. `numberingXml`: word/numbering.xml, '' when there is none. Never throws.
 */
export function createNumberingCounter(numberingXml: string): NumberingCounter {
  const lists = readLists(numberingXml);
  const counts = new Map<string, number[]>();
  const restarted = new Set<string>();
  return {
    levelOfStyle(numId, styleId) {
      for (const [level, { styleId: found }] of lists.get(numId)?.levels ?? []) if (found === styleId) return level;
      return null;
    },
    next(numId, level) {
      const list = lists.get(numId);
      const definition = list?.levels.get(level);
      if (!list || !definition) return null;
      const values = counts.get(list.abstractId) ?? [];
      if (!restarted.has(numId)) {
        restarted.add(numId);
        for (const [at, start] of list.restarts) values[at] = start - 1;
        if (list.restarts.size > 0) values.length = Math.min(values.length, Math.max(...list.restarts.keys()) + 1);
      }
      values[level] = (values[level] ?? definition.start - 1) + 1;
      values.length = level + 1;
      counts.set(list.abstractId, values);
      return toListNumber(list, definition, level, values);
    },
  };
}

function toListNumber(
  list: NumberedList,
  definition: NumberingLevel,
  level: number,
  values: readonly (number | undefined)[],
): ListNumber | null {
  if (definition.format === 'bullet') return { label: '', value: values[level] ?? 1, isPlain: true };
  if (definition.format === 'none' || definition.text === '') return null;
  const label = definition.text.replace(/%([1-9])/g, (_, digit: string) => {
    const at = Number(digit) - 1;
    const other = list.levels.get(at);
    const value = values[at] ?? other?.start ?? 1;
    return formatNumber(value, definition.isLegal ? 'decimal' : (other?.format ?? 'decimal'));
  });
  const isPlain = definition.format === 'decimal' && /^%[1-9]\s*[.)）、．]?$/.test(definition.text);
  return { label, value: values[level] ?? 1, isPlain };
}

function readLists(xml: string): Map<string, NumberedList> {
  const abstracts = new Map(
    elementsOf(xml, 'w:abstractNum').map((element) => [
      attributeOf(element, 'w:abstractNum', 'w:abstractNumId'),
      element,
    ]),
  );
  const styleTargets = new Map(
    [...abstracts.values()].map((element) => [attributeOf(element, 'w:styleLink'), element] as const),
  );
  return new Map(
    elementsOf(xml, 'w:num').map((element) => {
      const abstractId = attributeOf(element, 'w:abstractNumId');
      const own = abstracts.get(abstractId) ?? '';
      const link = attributeOf(own, 'w:numStyleLink');
      const levels = readLevels((link === '' ? undefined : styleTargets.get(link)) ?? own);
      const restarts = elementsOf(element, 'w:lvlOverride').flatMap((override) => {
        const start = attributeOf(override, 'w:startOverride');
        return start === '' ? [] : [[Number(attributeOf(override, 'w:lvlOverride', 'w:ilvl')), Number(start)] as const];
      });
      return [attributeOf(element, 'w:num', 'w:numId'), { abstractId, levels, restarts: new Map(restarts) }];
    }),
  );
}

function readLevels(abstract: string): Map<number, NumberingLevel> {
  return new Map(
    elementsOf(abstract, 'w:lvl').map((element) => [
      Number(attributeOf(element, 'w:lvl', 'w:ilvl') || 0),
      {
        format: attributeOf(element, 'w:numFmt') || 'decimal',
        text: unescapeXml(attributeOf(element, 'w:lvlText')),
        start: Number(attributeOf(element, 'w:start') || 1),
        styleId: attributeOf(element, 'w:pStyle'),
        isLegal: /<w:isLgl\s*\/?>/.test(element),
      },
    ]),
  );
}
