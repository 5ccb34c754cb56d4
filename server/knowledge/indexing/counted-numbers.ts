import { parseChineseNumeral } from '../../text/chinese-numerals.ts';

/** A Chinese numeral before a unit of measure. Numbers of articles and chapters are references, not measures. */
const MEASURED =
  /[〇零一二两三四五六七八九十百千万亿]{1,16}(?=个?(?:工作)?(?:[年月日天周时分秒人名元倍岁次户亩吨米成%％]|小时|公里|公斤))/gu;

/** Chinese numerals of a text that measure something, as digits: 六十日 → 60. Never throws. */
export function countedNumbers(text: string): string[] {
  const numbers: string[] = [];
  for (const [numeral] of text.matchAll(MEASURED)) {
    const value = parseChineseNumeral(numeral);
    if (value !== null) numbers.push(String(value));
  }
  return numbers;
}
