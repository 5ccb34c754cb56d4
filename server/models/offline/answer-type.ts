/** What kind of thing a question asks for, and how a sentence shows that it holds one. */
interface AnswerType {
  asked: RegExp;
  given: RegExp;
}

const NUMBER = '(?:\\d[\\d,.]*|[〇零一二三四五六七八九十百千万亿两半]+)';
const ANSWER_TYPES: readonly AnswerType[] = [
  {
    asked:
      /多久|多长时间|几[天日月年周]|(?:期限|时限|时效)(?:是|为|有)?(?:多|几|什么)|how long|how many (?:days|months|years)|time limit|deadline/iu,
    given: new RegExp(
      `${NUMBER}\\s*(?:个)?(?:工作)?(?:年|月|日|天|周|小时|分钟)|\\b(?:\\d+|one|two|three|four|five|six|seven|ten|thirty|sixty|ninety)[\\s-]+(?:calendar |working |business )?(?:day|week|month|year|hour|minute)s?\\b`,
      'iu',
    ),
  },
  {
    asked: /何时|什么时候|哪(?:一)?年|哪天|\bwhen\b|\bwhat (?:year|date|day)\b/iu,
    given: new RegExp(
      `${NUMBER}\\s*(?:年|月|日)|\\b\\d{4}\\b|[自于在当].{0,20}[时起后前]|\\b(?:january|february|march|april|june|july|august|september|october|november|december|before|after|until)\\b|\\b\\d+ may\\b`,
      'iu',
    ),
  },
  {
    asked: /多少|几[个名人次倍元条]|比例|\bhow (?:many|much)\b/iu,
    given: new RegExp(`${NUMBER}|\\b(?:one|two|three|four|five|six|seven|eight|nine|ten|none|no)\\b`, 'iu'),
  },
];

/** Whether a sentence can be an answer: a question for a number wants one. True where nothing special is asked. */
export function givesWhatIsAsked(question: string, sentence: string): boolean {
  return ANSWER_TYPES.every(({ asked, given }) => !asked.test(question) || given.test(sentence));
}

/** Whether the question asks for a number, a duration or a date. */
export function asksForValue(question: string): boolean {
  return ANSWER_TYPES.some(({ asked }) => asked.test(question));
}
