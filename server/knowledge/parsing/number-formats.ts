const chineseDigits = '零一二三四五六七八九';
const chineseUnits = ['', '十', '百', '千'];
const legalDigits = '零壹贰叁肆伍陆柒捌玖';
const legalUnits = ['', '拾', '佰', '仟'];
const stems = '甲乙丙丁戊己庚辛壬癸';
const romans: readonly (readonly [number, string])[] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];

/**
 * Writes a list number in a format of Word (`w:numFmt`). `value`: ≥ 0. Formats that are not known, and values that a
 * format cannot write, come out as decimals. Never throws. Source: ECMA-376 part 1, 17.18.59.
 */
export function formatNumber(value: number, format: string): string {
  switch (format) {
    case 'decimalZero':
      return String(value).padStart(2, '0');
    case 'upperRoman':
      return toRoman(value);
    case 'lowerRoman':
      return toRoman(value).toLowerCase();
    case 'upperLetter':
      return toLetters(value);
    case 'lowerLetter':
      return toLetters(value).toLowerCase();
    case 'chineseCounting':
    case 'chineseCountingThousand':
    case 'taiwaneseCounting':
    case 'taiwaneseCountingThousand':
    case 'ideographDigital':
    case 'japaneseCounting':
      return toChinese(value, chineseDigits, chineseUnits).replace(/^一十/, '十');
    case 'chineseLegalSimplified':
    case 'ideographLegalTraditional':
      return toChinese(value, legalDigits, legalUnits);
    case 'ideographTraditional':
      return stems[value - 1] ?? String(value);
    case 'decimalEnclosedCircle':
    case 'decimalEnclosedCircleChinese':
      return value >= 1 && value <= 20 ? String.fromCodePoint(0x245f + value) : String(value);
    default:
      return String(value);
  }
}

function toRoman(value: number): string {
  if (value < 1 || value > 3999) return String(value);
  let rest = value;
  let text = '';
  for (const [size, letters] of romans) {
    while (rest >= size) {
      text += letters;
      rest -= size;
    }
  }
  return text;
}

/** A … Z, AA, BB … as Word counts. */
function toLetters(value: number): string {
  if (value < 1 || value > 780) return String(value);
  return String.fromCodePoint(65 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));
}

function toChinese(value: number, digits: string, units: readonly string[]): string {
  if (value > 9999) return String(value);
  const figures = String(value);
  let text = '';
  [...figures].forEach((figure, index) => {
    const digit = Number(figure);
    const isGap = digit === 0 && !text.endsWith(digits[0] ?? '');
    if (digit > 0) text += `${digits[digit]}${units[figures.length - 1 - index]}`;
    else if (isGap) text += digits[0];
  });
  const zero = digits[0] ?? '';
  return text.length > 1 && text.endsWith(zero) ? text.slice(0, -1) : text;
}
