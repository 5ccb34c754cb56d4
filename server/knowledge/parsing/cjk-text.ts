const cjk =
  /[\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]|[\ud840-\ud888]/;
const spaceBetweenCjk = new RegExp(`(?<=${cjk.source}|[\\udc00-\\udfff]) (?=${cjk.source})`, 'g');
const articleStart = /^(第[〇零一二三四五六七八九十百千\d]+[编章节条](?:之[一二三四五六七八九十]+)?) (?=\S)/;

/** Radicals for which Unicode gives no equivalent character although fonts use them for it. */
const radicals: Record<string, string> = {
  // NFKC gives the traditional form of this one.
  '⼾': '户',
  '⺟': '母',
  '⻁': '虎',
  '⻄': '西',
  '⻅': '见',
  '⻆': '角',
  '⻉': '贝',
  '⻋': '车',
  '⻓': '长',
  '⻔': '门',
  '⻘': '青',
  '⻙': '韦',
  '⻚': '页',
  '⻛': '风',
  '⻜': '飞',
  '⻝': '食',
  '⻢': '马',
  '⻣': '骨',
  '⻤': '鬼',
  '⻥': '鱼',
  '⻦': '鸟',
  '⻧': '卤',
  '⻨': '麦',
  '⻩': '黄',
  '⻬': '齐',
  '⻮': '齿',
  '⻰': '龙',
  '⺠': '民',
  '⺙': '攵',
  '⻲': '龟',
  '⻳': '龟',
};

/** Whether a character is written without spaces around it: Han, kana, CJK punctuation, full-width forms. */
export function isCjk(character: string | undefined): boolean {
  return character !== undefined && cjk.test(character);
}

/**
 * Replaces Kangxi and other radicals by the characters they stand for: PDF fonts map 行 to U+2F8F, which looks the same
 * and is found by no search. Never throws.
 */
export function replaceRadicals(text: string): string {
  return text.replace(/[\u2e80-\u2fd5]/g, (radical) => radicals[radical] ?? radical.normalize('NFKC'));
}

/** Removes single spaces between CJK characters, except the one behind "第一条" at the start. Never throws. */
export function removeCjkSpaces(text: string): string {
  const start = articleStart.exec(text);
  if (!start) return text.replace(spaceBetweenCjk, '');
  return start[0] + text.slice(start[0].length).replace(spaceBetweenCjk, '');
}

/**
 * Joins two lines of one paragraph: nothing between CJK characters, a word divided by a hyphen made whole, else a space.
 * Never throws.
 */
export function joinLines(first: string, second: string): string {
  if (isCjk(first.at(-1)) && isCjk(second[0])) return first + second;
  // A word with a hyphen of its own ("state-of-the-art") keeps the hyphen it is divided at.
  if (/(?<![-\p{L}])\p{L}{2,}[-\u2010\u00ad]$/u.test(first) && /^\p{Ll}/u.test(second))
    return first.slice(0, -1) + second;
  if (/[-\u2010]$/.test(first) && /^\p{L}/u.test(second)) return first + second;
  return `${first} ${second}`;
}
