const DIGITS: Readonly<Record<string, number>> = {
  〇: 0,
  零: 0,
  '○': 0,
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000 };
const LARGE_UNITS: Readonly<Record<string, number>> = { 万: 10_000, 亿: 100_000_000 };

/** A run of numerals that counts something: behind 第, or before a unit of measure. `一般` is no number. */
const COUNTED =
  /(?<=第)[〇零一二两三四五六七八九十百千万亿]+|[〇零一二两三四五六七八九十百千万亿]+(?=个?(?:工作)?[年月日天周时分秒条款项章节编次人名元倍岁成万亿%])/gu;

/** The value of a numeral such as 二百三十四, 十, 一九九九, 120 or １２０; null where it is none or a mixture. Never throws. */
export function parseChineseNumeral(text: string): number | null {
  if (text === '') return null;
  if (/^[\d０-９]+$/u.test(text)) return Number(text.normalize('NFKC'));
  if (/^[〇零○一二两三四五六七八九]{2,}$/u.test(text)) {
    return Number([...text].map((digit) => DIGITS[digit]).join(''));
  }
  let total = 0;
  let section = 0;
  let digit: number | null = null;
  for (const character of text) {
    const value = DIGITS[character];
    const unit = UNITS[character];
    const large = LARGE_UNITS[character];
    if (value !== undefined) digit = value;
    else if (unit !== undefined) {
      section += (digit ?? 1) * unit;
      digit = null;
    } else if (large !== undefined) {
      // 万 counts what stands right before it, 亿 all before it (一万亿).
      const counted = section + (digit ?? 0);
      total = character === '亿' ? (total + counted) * large : total + counted * large;
      section = 0;
      digit = null;
    } else return null;
  }
  return total + section + (digit ?? 0);
}

/** Writes counted numerals as digits, so that 六十日 and 60日, 第二十条 and 第20条 compare equal. Never throws. */
export function numeralsToDigits(text: string): string {
  return text.replace(COUNTED, (numeral) => String(parseChineseNumeral(numeral) ?? numeral));
}
