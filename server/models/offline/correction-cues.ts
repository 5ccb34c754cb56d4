import { isSameKind, type StatedValue } from './statement-values.ts';

/** Says outright that something replaces something. */
const STRONG =
  /更正|纠正|不同意|别(?:按|用|写|再|当)|不(?:按|采纳|同意|认可|行)|过时|否决|否了|(?:又|有(?:所)?)(?:变|调整|改动|变化|变动|更新)|变了|想了想|改主意|就按|(?:降|涨|加)价|现在(?=.{0,6}\d)|修正|勘误|改(?:为|成|到|用|由|在|了|回|期|定|至|叫|一下|动)|换(?:为|成|到|了|用|个|回|\s?[A-Za-z0-9])|还是.{0,6}(?:用|换|选|走|按)|(?:搬|迁|转|挪)(?:到|至|往|去)|推迟|延期|延后|延长|提前了|放宽|收紧|缩短|涨到?|(?:降|减|增|加)了|变(?:为|成|更)|调(?:整|到|成|至|高|低)|更新(?:为|成|到|一下)|(?:推迟|延期|延后|顺延|提前|挪|移|延|缩短|缩减|压缩|压|砍|削减|追加|增加|增|加|提高|提升|提|上调|下调|降低|降|减少|减|放宽|收紧|扩大|扩)(?:到|至|成|为)|不是.{1,40}?[，,、]?\s*(?:而)?是|不再|(?:说|记|写|弄|搞|报|看|听|打|抄|算)(?:错|岔|反|混)|口误|笔误|错了|有误|不对|作废|取消了?|取代|代替|替代|替换|接替|接手|接任|接管|顶替|应(?:该|当)?(?:为|是)|定不下|最后(?:是|还是)|[，,]\s*(?:而)?(?:不是|并非)|而非|而是|才对|才是|其实是|实际(?:上)?(?:是|为|应)|以.{1,30}为准|重新(?:定|确定|核定|谈)|不用.{1,12}了|现在(?:是|改|换|变|定|由|归|已)|最新(?:的)?(?:是|为|版|数|口径|定|消息|情况)|最终(?:定|确定|是|为|敲)|(?:→|->|=>)|\b(?:correct(?:ion|ed|ing)|actually|instead(?: of)?|rather than|no longer|chang(?:e|ed|es|ing)|mov(?:ed|es|ing)|switch(?:ed|es|ing)?|swap(?:ped|s)?|revis(?:ed|e|ion|ing)|updat(?:e|ed|ing)|amend(?:ed|ment)?|adjust(?:ed|ment)?|bump(?:ed)?|rais(?:ed|e) (?:it )?to|lower(?:ed)? to|increas(?:ed|e) to|reduc(?:ed|e) to|(?:cut|trimmed|grown|grew|gone up|went up|gone down|dropped|slipped|shifted|extended|shortened|brought) (?:back |forward |up |down |out )?to|push(?:ed)?(?: it)?(?: back| out)?|pulled forward|brought forward|postpon(?:ed|e)|delay(?:ed)?|reschedul(?:ed|e)|replac(?:e|ed|es|ing)|tak(?:es|en|ing|e) over|took over|takes? the place|stepp(?:ed|ing) in|hand(?:ed|ing|s)? over|supersed(?:e|es|ed)|misspoke|mistaken|i was wrong|got (?:it|that) wrong|wrong|apolog(?:y|ies|ise|ize)|needs? (?:a |an )?(?:fix|correction|change|update)|my mistake|mistake|typo|mistyped|i meant|should (?:be|read|have been|have said)|make (?:that|it)|scratch that|turns? out|now (?:is|stands?|sits?|be|reads?|at|set|due|belongs?)|(?:is|are|will|'s|’s) now|now(?=[.!,]?$)|relaxed|tightened|extended|shortened|slipped|(?:is|are) (?:down|up) to|on reflection|on second thought|(?:has|have) become|becomes?|new(?:ly)? (?:figure|number|date|value|name|owner|lead|contact)|no more|disregard|forget|outdated|obsolete|turned down|rejected|ruled out|ended (?:up )?(?:with|at|on)|could not (?:stay|keep|hold)|ignore what|cancel(?:l?ed)?|used to be|not .{1,60}?\bbut\b|in fact)\b|(?:,|—|–|-)\s*not\s/iu;

/** Before a value: it is the one that was replaced. */
const BEFORE_OLD =
  /(?:不同意|别按|不按|别用|别写|不用|不要|不采纳|不认可|否决了?|否了|定不下|不是|不为|并非|而非|不再是?|不再用|不再由|原(?:来|先|本|定|计划|说)?(?:定|说|报|写|计划|安排)?(?:的|是|为|在|由)?|之前(?:定|说|报|写|提|讲|记|给|告诉你)?(?:的|是|为|在)?|先前(?:的|说的)?|此前(?:的)?|早先(?:的|说的)?|上次(?:说|讲|报|提)?的?|取代|代替|替代|替换|替换掉|接替|顶替|接手|从|由|把|将|\b(?:not|instead of|rather than|no longer|used to be|was|were|from|previous(?:ly)?|former(?:ly)?|earlier|original(?:ly)?|old|initial(?:ly)?|replac(?:e|es|ing|ed)|over from|place of|in place of|supersed(?:es|ing)|than|turned down|rejected|ruled out|forget|drop(?:ped)?|stay at|keep to|(?:i|we) (?:said|wrote|mentioned|told you|gave|quoted)))[\s:：“"「'‘]*(?:the |a |an |on |at |by |of |about |around |在|是|为)?[“"「'‘]?$/iu;
/** Between two values of a kind: the first gives way to the second. */
const BETWEEN =
  /改|换|变|调|更新|推迟|延|提前|挪|移|增|加|提|降|减|缩|压|砍|扩|[到至]|→|->|=>|而是|应|才|不对|错|其实|实际|哦|啊不|\b(?:to|now|but|actually|becomes?|became|sorry|scratch|make (?:that|it)|i mean|should|correct(?:ion|ed)|it'?s|it’s|wrong|no,)\b/iu;
/** After a value: it is gone. */
const AFTER_OLD =
  /^[”"」'’]?\s*(?:[这那]个|[这那]条|[这那]版)?(?:的?(?:说法|数字|数|日期|时间|金额|名字|版本|方案)?(?:是|已|已经)?(?:错|不对|有误|作废|不算|取消|不作数|不用|过时|过期))|^[”"」'’]?,?\s*(?:(?:is|was|were|are) (?:wrong|a mistake|a typo|mistaken|out|outdated|obsolete|gone|no longer|replaced|superseded)|no longer|as (?:i|we) (?:said|wrote|told)|has (?:left|stepped|been replaced|handed))/iu;

const OLD_PHRASE =
  /(?:不是|并非|而非|不再是|不再由|不再用|取代|代替|替代|替换掉?|接替|顶替|接手)\s*([^\s，,。；;、！!？?“”]{2,14}?)(?=，|,|。|；|;|、|！|$|而是|改|的|了|吧|\s|负责|来|担任|当)|(?:由|从|把|将)\s*((?:(?![由从把将])[^\s，,。；;、的]){2,14}?)(?:改|换|变|调|挪|移|转|迁|搬|替)|\b(?:instead of|rather than|no longer|not|replac(?:es|ing)|takes? over from|taking over from|took over from|in place of|from)\s+((?:(?!(?:but|to|and|as|for|on|in|at|is|anymore|any|the)\b)[\p{L}\d.'’&-]+)(?:\s+(?!(?:but|to|and|as|for|on|in|at|is|was|anymore|any|who|which|since|because)\b)[\p{L}\d.'’&-]+){0,3})/giu;

const TOO_GENERAL =
  /^(?:sure|only|just|yet|all|be|have|that|this|it|yes|what|going|much|many|very|really|to|一定|这样|那样|问题|这个|那个)\b/i;

/** Whether a sentence says that it replaces something said before. */
export function isCorrecting(sentence: string): boolean {
  return STRONG.test(sentence);
}

/** Splits the values of a correcting sentence into those that are replaced and those that hold. */
export function splitReplaced(
  sentence: string,
  values: readonly StatedValue[],
): { replaced: StatedValue[]; current: StatedValue[] } {
  const replaced = new Set<StatedValue>();
  const hasNumbers = values.some((value) => value.kind !== 'name');
  for (const [index, value] of values.entries()) {
    // Beside numbers and dates a name says whose they are.
    if (hasNumbers && value.kind === 'name') continue;
    const before = sentence.slice(values[index - 1]?.end ?? 0, value.start).slice(-40);
    const after = sentence.slice(value.end, value.end + 30);
    const others = values.filter((other) => other !== value && isSameKind(other, value) && other.key !== value.key);
    if (others.length === 0 ? NEGATED.test(before) : BEFORE_OLD.test(before)) replaced.add(value);
    else if (AFTER_OLD.test(after)) replaced.add(value);
    else if (givesWay(sentence, value, others)) replaced.add(value);
  }
  const current = values.filter((value) => !replaced.has(value));
  // All replaced and nothing in their place: what reads like an old value is the new one ("从3月1日起").
  const last = values.at(-1);
  if (current.length === 0 && last && values.length > 1) return { replaced: values.slice(0, -1), current: [last] };
  return { replaced: [...replaced], current };
}

const NEGATED =
  /(?:不是|并非|而非|不再是?|不再用|取代|代替|接替|替换|\b(?:not|instead of|rather than|no longer|used to be|replac(?:es|ing)|over from))\s*(?:the |on |at |by |在)?[“"「]?$/iu;

function givesWay(sentence: string, value: StatedValue, others: readonly StatedValue[]): boolean {
  const next = others.find((other) => other.start >= value.end);
  if (next === undefined) return false;
  const between = sentence.slice(value.end, next.start);
  // Between two names stands what either is: only a bare arrow makes one give way.
  if (value.kind === 'name') return /^\s*(?:→|->|=>|改为|改成|改由|换成|换为|变为|变成|调整为)\s*$/u.test(between);
  return BETWEEN.test(between) && !NEGATED.test(between) && !BEFORE_OLD.test(between);
}

/** Names and places that a correcting sentence says are replaced, in lower case: `不是李敏`, `instead of Li Min`. */
export function replacedPhrases(sentence: string): string[] {
  return [...sentence.matchAll(OLD_PHRASE)]
    .filter((match) => !/^(?:[Nn]o longer|[Nn]ot|[Ff]rom)\s+\p{Ll}/u.test(match[0]))
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? '').trim().toLowerCase())
    .filter((phrase) => phrase.length >= 2 && !/\d/.test(phrase) && !TOO_GENERAL.test(phrase));
}
