import { isCorrecting, replacedPhrases, splitReplaced } from './correction-cues.ts';
import type { ContentWords } from './coverage.ts';
import {
  IDENTIFIER,
  isSameKind,
  isSameValue,
  type StatedValue,
  statedValues,
  withoutValues,
} from './statement-values.ts';

/** What a line of the conversation states, taken apart. */
export interface Statement {
  text: string;
  /** What holds now. */
  values: StatedValue[];
  /** What it says is replaced. */
  replaced: StatedValue[];
  replacedPhrases: string[];
  /** What is left of the text without values and what is replaced, in lower case. */
  about: string;
  /** What it is about: content words without values, what is replaced and words that say nothing. */
  subject: Set<string>;
  /** Those of them that stand by the values: they must agree, the others may be by the way. */
  core: Set<string>;
  /** The last word of its subject before the first value, or else after it; '' where there is none. In Chinese that is what the value is of. */
  head: string;
  isCorrecting: boolean;
}

/** Verbs and fillers of any statement: they do not tell what it is about. English ones are stems as well as words. */
const GENERIC = new Set(
  `我们 我 你 您 他 她 它 咱们 大家 目前 现在 已经 现 已 确定 定 定为 定在 设为 设定 改为 改成 改到 更正 纠正 调整 变更 更新 换成 改 换 变成 调到 推迟 提前 延期 说错 记错 弄错 刚才 刚刚 之前 以前 原来 原先 原定 上次 前面 其实 实际 实际上 应该 应当 应为 不是 而是 不对 就是 还是 可以 需要 请 麻烦 记住 记下 记录 记一下 注意 补充 说明 一下 这个 那个 这边 那边 那里 这里 一个 然后 所以 因为 而且 另外 顺便 对了 大概 大约 左右 暂时 暂定 计划 打算 准备 决定 敲定 拍板 批 批准 通过 安排 为准 最新 最终 最后 刚 开会 讨论 告诉 通知 信息 消息 情况 数字 数据 时间 日期 金额 口径 写 报 按 成 到 是 为 有 在 了 的 将 会 要 由 从 把 总共 一共 合计 全部 总体 今年 今天 昨天 麻烦你 帮 知道 担任 来 做 给 以 后 起 作废 取消 代替 取代 接替 别 弄 搞 没 年 月 日 号 元 万
  actual actually correct correction change chang changed moved move now no not longer instead rather update updat updated revise revis revised new old previous previousli previously earlier original originally origin said say sai told tell mention note remember rememb pleas please record wrong mistake mistak sorry sorri mean meant should would will shall must can could may might set is are was were be been being have has had we our us i me my you your it its they them their this that these those there here just also still current currently total amount figure number date day time about around roughly approximately approxim exactly final finali finally agreed agre agree decid decide decided confirm confirmed plan planned plann expect go going went come came make made take taken took get got give given gave keep kept put let need want look know think thought turn turns out push pushed back forward up down over under thing one two first last week month year today yesterday tomorrow and or but so if as of for from to in on at by with than then be becom become becam stand sit at least most per each every own use us anymor anymore replac replace place way quick quickli correct fyi by-the-way stake switch switch'd handl handle ran want wants fix fixed work working hold held call called name named act acts serv serve appoint appointed hire hired chose choice choos pick sent send schedul scheduled pencil pencilled background regard regarding concern concerning equal equals mark marks come comes fall falls fell land lands settl settled note: earlier mix mixed wrote written give gives pass passed refer follow follow-up hear heard learn learned ask asked everybody everyone somebody nobody person peopl people day days date dates month months week weeks hour hours minut minutes year years euro euros dollar dollars sess word stay stays remain kept scratch forget void apolog apologi right schedule schedul appli applies applied longer replacing taken step stepped stand stood 双方 各方 背景 讲 说 提 提到 说明 算 算下来 核 核下来 取 卡 卡在 控制 限制 落在 落 排到 排 约 标 写明 按照 根据 满足 要求 达到 不能 不超 不超过 不晚 晚于 以内 之内 之前 之后 必须 务必 赶上 指派 派 任 出任 担任 选 选定 选了 请 聘 叫 名叫 做 当 办好 过目 一职 承担 有事 他 她 找 给到 能 超 批下来 下来 批不下来 更新 一条 有变 变 变了 有改动 改动 不作数 作数 岔 讲的 前面 收到 刚收到 前面讲 说岔 说好 商定 达成 一致 约定 签 签约 计 计为 共计 一共 共 现为 现定 取消 原因 因为 由于 考虑 经过 评估 重新 测算 核算 统计 确认 核实 得知 听 领导 老板 同步 汇报 提醒 日子 新 推迟了 延长 放宽 搬 迁 减 增 加 降 涨 提高 降低 缩短 这回 这次 又变 再次 核过 写成 算成 当成 关于 至于 对于 方面`.split(
    /\s+/,
  ),
);

/** Takes a sentence apart. Pure apart from `words`; never throws. */
export function readStatement(text: string, words: ContentWords): Statement {
  const found = statedValues(text);
  const correcting = isCorrecting(text);
  const { replaced, current } = correcting ? splitReplaced(text, found) : { replaced: [], current: found };
  const phrases = correcting ? replacedPhrases(text) : [];
  const hasHard = hardValues(found).length > 0;
  const given = found.filter(
    (value) => value.kind !== 'name' || replaced.includes(value) || (!hasHard && isGivenName(text, value)),
  );
  const about = (part: string) => new Set([...subjectWords(part, words), ...identifiers(part)]);
  const unnamed = (part: string) => phrases.reduce((rest, phrase) => rest.replaceAll(phrase, ' '), part.toLowerCase());
  const left = unnamed(withoutValues(text, given));
  const rest = (given.length > 0 ? left : beforePredicate(left, words)).replace(CHANGE_VERB, ' ');
  const subject = about(rest);
  const core = about(unnamed(withoutValues(...clauseOf(text, given))).replace(CHANGE_VERB, ' '));
  return {
    text,
    values: current,
    replaced,
    replacedPhrases: phrases,
    about: rest,
    subject,
    core: new Set(core.size > 0 ? [...core].filter((word) => subject.has(word)) : subject),
    head:
      subjectWords(unnamed(headText(text, given)).replace(CHANGE_VERB, ' '), words).at(-1) ?? [...core].at(-1) ?? '',
    isCorrecting: correcting,
  };
}

/** Blanked before words are told apart, else `单量变了` becomes 单 and 量变. */
const CHANGE_VERB =
  /(?:变更|更改|改|换|变|调整|更新|修改|推迟|延期|提前|挪|搬|迁|转|增加|减少|提高|降低|上调|下调|缩减|追加|增|减|涨|降)(?:为|成|到|至|了|由|在|用|一下)|其实|应该?[是为]|现在|目前|最新/gu;

/** Whether a statement names a word, in Chinese also across a segmenter's cuts. */
export function isNamed(word: string, { subject, about }: Statement): boolean {
  return subject.has(word) || (/^\p{Script=Han}/u.test(word) && about.includes(word));
}

/**
 * What each clause of a statement says, or just the statement where only one clause says something. A clause is also about
 * what the first one is about (`South: budget 80, deadline May 3`).
 */
export function clauseStatements(whole: Statement, words: ContentWords): Statement[] {
  // What is left of a correction without one of its clauses could say anything.
  if (whole.isCorrecting) return [whole];
  const parts = joinedClauses(whole.text.split(CLAUSE_SEAM).slice(0, MAX_CLAUSES + 1), words);
  if (parts.length < 2 || parts.length > MAX_CLAUSES) return [whole];
  const [first] = parts;
  return parts.map((part) => ({ ...part, subject: new Set([...part.subject, ...(first?.subject ?? [])]) }));
}

const MAX_CLAUSES = 12;

/** A clause that only names a topic goes with the next one, one that only gives a value with the one before. */
function joinedClauses(pieces: readonly string[], words: ContentWords): Statement[] {
  const parts: Statement[] = [];
  let topic = '';
  for (const piece of pieces) {
    const part = readStatement(topic + piece, words);
    const states = part.values.length > 0 || part.text.search(PREDICATE) >= 0;
    const last = parts.at(-1);
    topic = '';
    if (part.subject.size === 0 && last) parts[parts.length - 1] = readStatement(last.text + part.text, words);
    else if (states) parts.push(part);
    else topic = part.text;
  }
  const last = parts.at(-1);
  if (topic !== '' && last) parts[parts.length - 1] = readStatement(last.text + topic, words);
  return parts;
}

/** Kept with the clause before it, so that the pieces join to the whole. */
const CLAUSE_SEAM =
  /(?<=[，；;。])(?=.)|(?<=,\s)(?=[A-Za-z])|(?<=[.!]\s)|(?=\sand\s(?:the|our|we|i|my|he|she|they|phase|it)\b)/giu;

const CLAUSE_END = /[，；;。！!？?]|,\s|\.\s/gu;

function headText(text: string, given: readonly StatedValue[]): string {
  const [first] = given;
  return first === undefined
    ? ''
    : (text
        .slice(0, first.start)
        .split(/[，；;。！!？?]/u)
        .at(-1) ?? '');
}

/** The clause around the first values, with those values where they stand in it. */
function clauseOf(text: string, values: readonly StatedValue[]): [string, StatedValue[]] {
  const [first] = values;
  if (first === undefined) return [text, []];
  const ends = [...text.matchAll(CLAUSE_END)].map((match) => match.index + match[0].length);
  const start = ends.filter((end) => end <= first.start).at(-1) ?? 0;
  const end = ends.find((place) => place >= first.end) ?? text.length;
  const inside = values.filter((value) => value.start >= start && value.end <= end);
  return [
    text.slice(start, end),
    inside.map((value) => ({ ...value, start: value.start - start, end: value.end - start })),
  ];
}

/** Numbers, dates and codes: values that names do not compete with. */
export function hardValues(values: readonly StatedValue[]): StatedValue[] {
  return values.filter((value) => value.kind !== 'name');
}

/** Whether all that `part` gives stands in `whole` too. */
export function givesAllOf(whole: Statement, part: Statement): boolean {
  return (
    part.values.length > 0 && part.values.every((value) => whole.values.some((other) => isSameValue(other, value)))
  );
}

/** Values of `old` that have another value of their kind in `latest`. */
export function differingValues(old: Statement, latest: Statement): StatedValue[] {
  return hardValues(old.values).filter(
    (value) =>
      latest.values.some((other) => isSameKind(other, value)) &&
      !latest.values.some((other) => isSameValue(other, value)),
  );
}

/** A name that a statement gives, not one that tells what it is about (`the Lisbon office`, `of Porto`). */
function isGivenName(text: string, { start, end }: StatedValue): boolean {
  if (/^[《“"「]/.test(text.charAt(start))) return false;
  const isPart = /\b(?:the|of|in|for|at|our|this|that|from|within|across)\s$/i.test(
    text.slice(Math.max(0, start - 8), start),
  );
  const isOwner =
    /^(?:['’]s\b|\s(?:has(?! been)|have|needs?|gets?|got|wants?|must|will (?:have|get|need)|expects?)\b)/i.test(
      text.slice(end),
    );
  return !isOwner && (!isPart || /^\s*$/.test(text.slice(end)));
}

const PREDICATE =
  /(?:改|换|变|调整|更新|挪|移|迁|搬|转)(?:为|成|到|用|由|在|至|了)|而是|应为|应该?是|其实是|现在是|定为|定在|选用|采用|叫做?|(?<![但可还只总于都])是|(?<![作认行成因])为|(?<![存现所正])在|(?<![备使费专通信适公商民常应有能占借作引启停利])用|归|：|:|\b(?:(?:should |will |has |have )?(?:be|been)|is(?: now)?|are(?: now)?|becomes?|became|moved? to|changed? to|switched? to|goes? to|uses?|using|runs? on|to)\b/giu;

/** What stands before the verb that gives the value; all of it where nothing stands there. */
function beforePredicate(text: string, words: ContentWords): string {
  for (const match of [...text.matchAll(PREDICATE)].reverse()) {
    const before = text.slice(0, match.index);
    if (subjectWords(before, words).length > 0) return before;
  }
  return text;
}

function subjectWords(text: string, words: ContentWords): string[] {
  return words(text)
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 1 && !GENERIC.has(word) && !/^[\d.,%]+$/.test(word));
}

/** `二期`, `3号楼`, `phase 2`, `B 区`: what tells two things of one kind apart. */
function identifiers(text: string): string[] {
  return [...text.matchAll(IDENTIFIER)].map((match) => `#${match[0].replace(/[\s第]/g, '').toLowerCase()}`);
}
