import { hardValues, type Statement } from './statement.ts';

/** Tries to give the assistant orders: data like any other, and the least of it. */
const INSTRUCTION =
  /忽略(?:以上|之前|前面|上面)?.{0,8}(?:指令|提示|规则|要求)|你现在是|扮演|系统提示|\b(?:ignore|disregard|forget|override) (?:all |any |the |your |my )*(?:previous|prior|above|earlier|system|instructions?|rules?|prompts?)|system prompt|you are now|jailbreak|act as\b/iu;

/** Whether a text tries to give the assistant orders. */
export function isInstruction(text: string): boolean {
  return INSTRUCTION.test(text);
}

/** What adds to a statement's worth, for either speaker. */
const SIGNS: readonly (readonly [RegExp, number])[] = [
  [
    /必须|务必|不得|不能|不可|不许|不准|禁止|严禁|只能|只(?:用|要|接受|允许|考虑)|至少|至多|最多|最少|不超过|不低于|上限|下限|以内|之内|截止|期限|\b(?:must(?:n't)?|may not|cannot|can't|shall|required|requires|only|at least|at most|no (?:more|less|later|fewer) than|up to|maximum|minimum|limit(?:ed)?|cap(?:ped)?|deadline|due|never|not allowed|forbidden|has to|have to)\b/iu,
    2,
  ],
  [
    /希望|想要|目标|需要|要求|打算|计划|目的是|\b(?:want(?:s|ed)?|goal|aim(?:s|ing)?|need(?:s|ed)?|hope|target|intend|plan(?:s|ned)?|prefer|priority)\b/iu,
    1.5,
  ],
  [
    /决定|敲定|定(?:为|在|于|了|下)|拍板|选(?:定|用|了)|采用|确认|批准|签(?:了|约|订)|\b(?:decid(?:ed|es)|agreed|chose|chosen|settled|confirmed|approved|signed|picked|adopted|booked|assigned|appointed)\b/iu,
    1.5,
  ],
  [
    /负责人|联系人|对接人|接口人|经理|主管|主任|总监|组长|牵头|由.{2,8}(?:负责|牵头|担任|对接|主持|审批|签字)|叫|姓|名(?:字|称)|地址|电话|邮箱|账号|编号|代号|\b(?:owner|lead(?:s|er)?|contact|manager|responsible|in charge|reports? to|sponsor|run by|headed by|handled by|called|named?|address|phone|account|code ?name|supplier|vendor)\b/iu,
    1.5,
  ],
  [
    /记住|记(?:一下|下来?|着|录|好)|备注|请注意|别忘|留个底|存档|供参考|\b(?:remember|note|for the record|keep in mind|fyi|for reference|write (?:this|that) down|make a note|bear in mind|log this)\b/iu,
    2.5,
  ],
];

/** What takes from it. */
const FILLERS: readonly (readonly [RegExp, number])[] = [
  [
    /你好|您好|早上好|下午好|谢谢|感谢|辛苦|哈哈|再见|周末愉快|不客气|\b(?:hello|hi|thanks|thank you|cheers|good morning|have a (?:nice|good|great)|haha|lol|you're welcome|no worries|glad to|happy to help)\b/iu,
    3,
  ],
  [
    /天气|下雨|堵车|咖啡|奶茶|午饭|午餐|晚饭|吃饭|电影|电视剧|球赛|比赛|健身|跑步|孩子|小孩|女儿|儿子|老婆|老公|猫|狗|周末|假期去|旅游|地铁上|感冒|睡|邻居|朋友|同学|亲戚|闲聊|无关|随便|题外话|\b(?:weather|rain(?:ed|ing|y)?|traffic|coffee|lunch|dinner|breakfast|movie|film|football|match|game|gym|jog(?:ging)?|marathon|kids?|daughter|son|wife|husband|cat|dog|weekend|holiday|vacation|neighbou?r|friend|cousin|podcast|novel|off[- ]topic|small talk|unrelated|anyway|bus|train was|slept|birthday|recipe|garden)\b/iu,
    4,
  ],
  [
    /比如|例如|举例|假如|假设|如果|要是|万一|譬如|打个比方|\b(?:for example|for instance|e\.g\.|suppose|imagine|hypothetical(?:ly)?|what if|say,|if (?:we|i|you|they|it|the|a|somebody|someone))\b/iu,
    3,
  ],
  [
    /听说|据说|有人说|网上|新闻|看到一篇|文章里|报道|以前的公司|前东家|别的公司|同行|\b(?:i (?:heard|read)|rumou?r|apparently|somebody told|someone said|article|news(?:paper)?|headline|my (?:old|last|previous) (?:job|company|employer)|competitors?|elsewhere)\b/iu,
    3,
  ],
  [/昨晚|昨天|今早|早上|刚才在|上周末|前几天|\b(?:yesterday|last night|this morning|the other day|on my way)\b/iu, 1.5],
  [
    /一般来说|通常|总体而言|总的来说|需要说明的是|希望(?:以上|这些)|如有|还有(?:什么|其他)|\b(?:generally|in general|usually|typically|broadly|overall|let me know|hope this helps|feel free|in summary|it is worth)\b/iu,
    1.5,
  ],
  [INSTRUCTION, 8],
];

/** Least worth of a line that is kept at all. */
export const MIN_WORTH = 2.5;
/** The same of what people state. */
export const MIN_STATED_WORTH = 1.5;

/**
 * How much would be lost without this statement; comparable within one section. Values count most, then rules, goals,
 * decisions and who is who, and for people what they say of their own affair and come back to (`isOnTopic`); small talk, examples, hearsay and attempts
 * to instruct count against.
 */
export function statementWorth(statement: Statement, speaker: 'user' | 'assistant', isOnTopic = false): number {
  const { text, values } = statement;
  const hard = hardValues(values).length;
  const names = values.length - hard;
  let worth = Math.min(hard, 2) * 2 + Math.min(hard, 4) * 0.5 + Math.min(names, 2) * 1.5;
  for (const [pattern, points] of SIGNS) if (pattern.test(text)) worth += points;
  for (const [pattern, points] of FILLERS) if (pattern.test(text)) worth -= points;
  if (statement.subject.size === 0) worth -= 2;
  if (speaker === 'assistant') return statement.subject.size === 0 ? worth - 2 : worth;
  if (statement.isCorrecting) worth += 3;
  if (isOnTopic) worth += 1.5;
  return worth + (DEFINES.test(text) ? 1.5 : 0) + (OWN_AFFAIR.test(text) ? 1 : 0);
}

/** Says what something is: `X 是 Y`, `X: Y`, `X is Y`. */
const DEFINES =
  /^.{2,40}?(?:是|为|叫|由|归|派|选|定|请|：|:|担任|出任|负责)\s*.{1,40}$|\b(?:is|are|was|will be|has been|serves?|acts?|goes by|called|named|held by|belongs to|as)\b/iu;
/** First person of a group, as people speak of what is theirs. */
const OWN_AFFAIR = /我们|咱们|我方|我司|公司|本(?:项目|部门|次|期)|这边|\b(?:we|our|us)\b/iu;
