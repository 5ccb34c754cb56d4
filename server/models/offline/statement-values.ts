import { parseChineseNumeral } from '../../text/chinese-numerals.ts';

export type ValueKind = 'number' | 'date' | 'code' | 'name';

/** A value that a statement gives. `key`: equal for the same value however it is written. `unit`: of numbers, '' where none is said. */
export interface StatedValue {
  kind: ValueKind;
  key: string;
  unit: string;
  start: number;
  end: number;
}

const MONTHS = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const MONTH = `(?:${MONTHS})(?:uary|ruary|ch|il|e|y|ust|t(?:ember)?|tember|ober|ember)?\\.?`;
const HAN_NUMBER = '[〇零一二两三四五六七八九十百千万亿]';
const DATE = new RegExp(
  [
    '\\d{4}[-/.年]\\s?\\d{1,2}(?:[-/.月]\\s?\\d{1,2}(?!\\d)[日号]?|月)',
    `(?:\\d{1,2}|${HAN_NUMBER}{1,3})\\s?月\\s?(?:(?:\\d{1,2}|${HAN_NUMBER}{1,3})\\s?[日号]|[上中下]旬|底|初|末)?(?!月|个)`,
    `(?:\\d{1,2}|${HAN_NUMBER}{1,3})\\s?号(?![楼线仓库机房厂院店馆门])`,
    `\\b${MONTH}\\s+\\d{1,2}(?:st|nd|rd|th)?\\b(?:,?\\s+\\d{4})?`,
    `\\b\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${MONTH}(?![a-z])(?:,?\\s+\\d{4})?`,
    '(?:下下?|上|本|这)?(?:周|星期|礼拜)[一二三四五六日天](?:[上下]午)?',
    '\\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\\b',
    '第[一二三四]季度|\\bQ[1-4](?:\\s+\\d{4})?\\b',
    '(?:[上下]午|晚上|早上|中午)?\\s?\\d{1,2}[:：]\\d{2}(?!\\d)(?:\\s?[ap]\\.?m\\b\\.?)?|(?:[上下]午|晚上|早上)\\s?(?:\\d{1,2}|[一二三四五六七八九十]{1,2})\\s?点半?|\\b\\d{1,2}\\s?[ap]\\.?m\\b',
  ].join('|'),
  'giu',
);
const CODE =
  /https?:\/\/[^\s，。；、）)\]】]{1,200}|[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,20}){1,4}|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w-])(?=[\w./-]{0,30}\d)(?=[\w./-]{0,30}[A-Za-z])(?!\d+(?:st|nd|rd|th|k|m|km|kg|gb|mb|tb|ms|h|x|g|am|pm)\b)[A-Za-z0-9]{1,20}(?:[-_./][A-Za-z0-9]{1,20}){0,6}(?![\w-])/giu;
const UNIT =
  '(?:万|亿|千|百)?\\s?(?:人民币|美元|欧元|日元|元|块|人次|人天|人月|人|名|位|个?工作日|个?小时|个月|个?季度|分钟|毫秒|秒|天|日|周|年|次|台|套|条|件|份|箱|页|张|间|家|辆|户|场|项|层|吨|公斤|千克|克|公里|千米|米|平方米|平米|平|度|折|票|批|岁|倍|字|兆|并发|个)';
const LATIN_UNIT =
  '(?:percentage points|per ?cent|[a-z]{2,14}s\\b|k\\b|m\\b|bn\\b|million\\b|billion\\b|thousand\\b|hundred\\b|people\\b|staff\\b|personnel\\b|[gmtk]b(?:ps)?\\b|ms\\b|km\\b|kg\\b|kwh?\\b|euro\\b|dollar\\b|eur\\b|usd\\b|gbp\\b|rmb\\b|yuan\\b)';
const SMALL =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety';
const NUMBER = new RegExp(
  [
    `(?:[$€£¥￥]\\s?)?(?<![\\d.,])\\d+(?:[,，]\\d{3}(?!\\d))*(?:\\.\\d+)?(?:\\s?[%％‰]|\\s?${UNIT}|\\s?[万亿]|[\\s-]?(?:(?:k|m|bn|million|billion|thousand|hundred)\\s)?${LATIN_UNIT})?`,
    `百分之(?:${HAN_NUMBER}+|\\d+)`,
    `(?<!第)${HAN_NUMBER}+\\s?(?:${UNIT}|成)`,
    `(?<!第)${HAN_NUMBER}+[十百千万亿]`,
    `\\b(?:${SMALL})(?:[\\s-](?:${SMALL}|hundred|thousand|million))*[\\s-](?:[a-z]{2,14}s|per ?cent|million|thousand|hundred|month|day|week|year)\\b`,
  ].join('|'),
  'giu',
);
/** Capitalised words in a row, a particle between them allowed. The first word of a sentence is looked at by the caller. */
const NAME = /\b\p{Lu}[\p{L}'’]{1,30}(?:[-\s](?:(?:de|van|von|da|of|bin|al)\s)?\p{Lu}[\p{L}'’]{1,30}){0,4}/gu;
/** `PostgreSQL 16`, `iOS 17`: the number is part of the name. */
const VERSIONED =
  /(?<=[^.!?。！？\n]\s?)\b(?=\w*[A-Z])[A-Za-z][\w+#]{1,20}\s\d{1,4}(?:\.\d+){0,3}\b(?!\s?[%％,\d:]|\s(?:[a-z]+s|percent|million|thousand)\b)/gu;
const SURNAME =
  '(?:欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛范彭郎鲁韦马苗凤花方俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝安常乐于傅卞齐康伍余元顾孟黄穆萧尹姚邵汪祁毛狄米贝戴宋庞熊纪舒屈项祝董梁杜阮蓝季贾路江童颜郭梅盛林钟徐邱骆高夏蔡田樊胡凌霍虞万柯管卢莫房丁邓石崔龚程陆翁段侯武刘龙叶白赖乔翟谭温庄晏柴向易戈廖曾关])';
/** A Chinese name where a sentence puts one: who it is, who does it, who it was. */
const HAN_NAME = new RegExp(
  `(?<=是|为|叫|由|按|请|派|选|让|找|给|换|成|改为|改由|：|:|不是|而是|从|把|将|和|与|、|的|给到|交给|到|了|→|（|\\(|人|经理|主管|[组队班店所部科处局院校会]长|师|员|代表|顾问|总监|主任|秘书|助理|监理|代替|取代|接替|^|[，,；;。\\s])${SURNAME}\\p{Script=Han}(?:(?![改换变为是不来负做担出任接调])\\p{Script=Han})?(?=$|[，,。；;、！!？?（(）)：:→\\s-]|头上|手|算|会|那|同|先|女|兼|是|担任|出任|负责|做|当|来|任|为|了|吧|接|牵头|过目|签|审|承担|换成|改|而|不再|已|将|老师|总|经理|代替|取代|替|去|对接|主持|统筹|兼)`,
  'gu',
);
const TITLE = /《[^《》]{1,60}》|[“"「][^”"」]{2,40}[”"」]/gu;

/** What tells two things of one kind apart: `二期`, `3号楼`, `phase 2`, `B 区`. No value, whatever number is in it. */
export const IDENTIFIER =
  /第?(?:\d{1,3}|[一二三四五六七八九十]{1,2}|[A-Za-z])\s?(?:号(?=[楼线仓库机房厂院店馆门])|期(?!间|限|权|货)|楼|组|线(?!上|下|索)|标段|阶段|区(?!域|别|分)|分部|门店)|\b(?:phase|stage|building|floor|line|team|group|batch|site|lot|wing|section|tier|level|unit|warehouse|room|track|region|zone)\s(?:\d{1,3}(?![\d,.]\d)|[a-z])\b/giu;

/** The values of a text in order, none overlapping another. Linear; never throws. */
export function statedValues(text: string): StatedValue[] {
  const taken: StatedValue[] = [];
  const covered = new Uint8Array(text.length);
  const add = (
    pattern: RegExp,
    read: (raw: string, start: number) => Pick<StatedValue, 'kind' | 'key' | 'unit'> | null,
  ) => {
    for (const match of text.matchAll(pattern)) {
      const raw = match[0];
      const start = match.index;
      if (raw === '' || covered.subarray(start, start + raw.length).includes(1)) continue;
      const value = read(raw, start);
      if (value === null) continue;
      covered.fill(1, start, start + raw.length);
      taken.push({ ...value, start, end: start + raw.length });
    }
  };
  for (const { 0: raw, index } of text.matchAll(IDENTIFIER)) covered.fill(1, index, index + raw.length);
  add(TITLE, (raw) => ({ kind: 'name', key: fold(raw.slice(1, -1)), unit: '' }));
  add(CODE, (raw) => (isCode(raw) ? { kind: 'code', key: fold(raw), unit: '' } : null));
  add(DATE, (raw) => ({ kind: 'date', key: dateKey(raw), unit: '' }));
  add(VERSIONED, (raw) => (/[a-z][A-Z]|[A-Z]{2}/.test(raw) ? { kind: 'name', key: fold(raw), unit: '' } : null));
  add(NUMBER, (raw) => numberValue(raw));
  add(HAN_NAME, (raw) => (NO_HAN_NAMES.test(raw) ? null : { kind: 'name', key: raw, unit: '' }));
  add(NAME, (raw, start) => (isName(raw, text, start) ? { kind: 'name', key: fold(raw), unit: '' } : null));
  return taken.sort((a, b) => a.start - b.start);
}

/** Whether two values can stand in the same place: numbers of compatible units, dates, codes, names. */
export function isSameKind(a: StatedValue, b: StatedValue): boolean {
  return a.kind === b.kind && (a.kind !== 'number' || a.unit === b.unit || a.unit === '' || b.unit === '');
}

/** Whether two values say the same; a number without a unit equals one with it. */
export function isSameValue(a: StatedValue, b: StatedValue): boolean {
  return a.key === b.key && isSameKind(a, b);
}

/** The text with its numbers, dates and codes blanked out, so that what is left says what they are about. */
export function withoutValues(text: string, values: readonly StatedValue[]): string {
  let rest = '';
  let at = 0;
  for (const { start, end } of values) {
    rest += `${text.slice(at, start)} `;
    at = end;
  }
  return rest + text.slice(at);
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** A code mixes letters and digits and is no plain measure such as 80k. */
function isCode(raw: string): boolean {
  return (
    /@|:\/\/|\d\.\d+\.\d/.test(raw) ||
    (/\d/.test(raw) && /[A-Za-z]/.test(raw) && !/^\d[\d.,]*-?[a-z]{1,12}$|^q[1-4]$/i.test(raw))
  );
}

/** Common words that begin like a name. */
const NO_HAN_NAMES =
  /^(?:方案|方法|方式|方便|方面|关于|关键|管理|金额|高峰|高级|高风险|常用|常见|常规|任务|任何|安全|安排|安装|项目|万一|程序|程度|和平|向上|时候|华东|华南|华北|华中|江苏|安徽|云南|云平台|成都|石家庄|武汉|温度|路由|路线|白天|常州|徐州|郑州|温州|黄金|金融|段落|章节|马上|元旦|余额|余下|费用|季度|盛大|花费|于是|于|毕竟|康复|管道|房间|房租|房产|田间|水平|元|万元|米|任意|易用|时间|章程|施工|严格|严重|张贴|许可|许多|何时|何人|应用|陆续|熊猫|纪要|项|单|白名单|曾经|龙头|夏季|贺卡|童车|梅雨|常驻|常务|管控|管辖|石油|华为|江南|江北|叶片|雷达|柳州|蓝图|卫生|卫星|车间|路径|路口|向量|程控|高铁|高速|高管|高校|钟点|计划)/u;
const NO_NAMES =
  /^(?:i|i'm|i’m|i'd|i’d|i've|i’ve|i'll|i’ll|the|a|an|we|we're|our|it|it's|this|that|these|those|they|he|she|you|your|my|is|are|was|in|on|at|for|to|of|by|and|or|but|so|if|as|from|with|please|also|note|yes|no|ok|okay|thanks|hi|hello|what|which|who|when|where|why|how|can|could|do|does|did|will|would|should|there|here|one|all|let|just|not|now|after|before|since|once|per|correction|update|sorry|actually|well|by the way|fyi|by|use|keep)$/i;

function isName(raw: string, text: string, start: number): boolean {
  if (NO_NAMES.test(raw)) return false;
  const before = text.slice(Math.max(0, start - 3), start);
  const opens = start === 0 || /[.!?:。！？：\n]\s*$/.test(before);
  return !opens || /\s/.test(raw);
}

const UNIT_KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:[$€£¥￥]|.*(?:元|块|人民币|dollar|euro|pound|yuan|eur|usd|gbp|rmb))/i, 'money'],
  [/[%％‰]|percent|百分之|成$/i, '%'],
  [/人|名$|位$|people|person|staff|employee|member|engineer|user|head/i, 'people'],
  [/日|天|周|年|月|季度|小时|分钟|秒|day|week|month|year|hour|minute|second|ms$/i, 'time'],
];

function numberValue(raw: string): Pick<StatedValue, 'kind' | 'key' | 'unit'> | null {
  const text = raw.normalize('NFKC').toLowerCase().trim();
  const magnitude = magnitudeOf(text);
  if (magnitude === null) return null;
  const unit = UNIT_KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? bareUnit(text);
  // Two durations are alike in kind, not in value: 3 days are not 3 weeks.
  const measure =
    unit === 'time'
      ? (/(季度|工作日|小时|分钟|[日天周年月秒]|day|week|month|year|hour|minute|second|ms$)/.exec(text)?.[1] ?? '')
      : '';
  return { kind: 'number', key: `${magnitude}${measure === '日' ? '天' : measure}`, unit };
}

function bareUnit(text: string): string {
  const unit = text
    .replace(/^[\d.,\s-]+|^[〇零一二两三四五六七八九十百千万亿]+/u, '')
    .replace(/^(?:万|亿|千|百|k|m|bn|million|billion|thousand|hundred)\s*/u, '');
  return unit.replace(/s$/, '').replace(/^个$/, '');
}

const SCALES: readonly (readonly [RegExp, number])[] = [
  [/亿/u, 1e8],
  [/万/u, 1e4],
  [/^[\d.,$€£¥\s]+千/u, 1e3],
  [/(?:\d\s?bn|billion)\b/, 1e9],
  [/(?:\d\s?m|million)\b/, 1e6],
  [/(?:\d\s?k|thousand)\b/, 1e3],
];

function magnitudeOf(text: string): number | null {
  const digits = /\d[\d,]*(?:\.\d+)?/.exec(text)?.[0];
  if (digits !== undefined) {
    const scale = SCALES.find(([pattern]) => pattern.test(text))?.[1] ?? 1;
    return Math.round(Number(digits.replaceAll(',', '')) * scale * 1e6) / 1e6;
  }
  const numeral = /[〇零一二两三四五六七八九十百千万亿]+/u.exec(text.replace('百分之', ''))?.[0];
  if (numeral !== undefined) return parseChineseNumeral(numeral);
  return wordMagnitude(text);
}

const WORD_NUMBERS = SMALL.split('|');

function wordMagnitude(text: string): number | null {
  let total = 0;
  let isFound = false;
  for (const word of text.split(/[\s-]+/)) {
    const at = WORD_NUMBERS.indexOf(word);
    if (at >= 0) total += at < 20 ? at + 1 : (at - 17) * 10;
    else if (word === 'hundred') total *= 100;
    else if (word === 'thousand') total *= 1e3;
    else if (word === 'million') total *= 1e6;
    else break;
    isFound = true;
  }
  return isFound ? total : null;
}

/** Month and day of a full date whatever the order; the year where it is said is left out, people drop it when they repeat a date. */
function dateKey(raw: string): string {
  const text = raw
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[〇零一二两三四五六七八九十]+(?=\s?[月日号])/gu, (numeral) =>
      String(parseChineseNumeral(numeral) ?? numeral),
    );
  const named = new RegExp(`(?:${MONTHS})`).exec(text);
  if (named && /\d/.test(text)) {
    const day = /\b(\d{1,2})(?!\d)/.exec(text)?.[1] ?? '';
    return `${MONTHS.split('|').indexOf(named[0]) + 1}-${Number(day)}`;
  }
  const full = /^\d{4}\D\s?(\d{1,2})\D\s?(\d{1,2})?/.exec(text) ?? /^(\d{1,2})\s?月\s?(\d{1,2})?/.exec(text);
  if (full) return `${Number(full[1])}-${full[2] === undefined ? text.replace(/^.*月/, '') : Number(full[2])}`;
  return text.replace(/\s+/g, '');
}
