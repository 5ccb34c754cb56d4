import type { ContentWords } from './coverage.ts';
import { splitQuestion } from './question-parts.ts';
import type { SaidSentence } from './said-sentences.ts';
import type { Statement } from './statement.ts';
import { asLine } from './summary-form.ts';

const NOT_ANSWERED =
  /无法(?:核实|确认|回答|判断|确定|得知|查到)|(?:没有|未|未能|没)(?:找到|查到|提及|提到|说明|记载|涉及|检索到|给出|包含|相关)|不(?:清楚|知道|确定|掌握)|暂(?:时)?无(?:法)?|资料中没有|缺少(?:相关)?|尚无|\b(?:cannot (?:be )?(?:verif|confirm|answer|determin|tell|say|find)|can't (?:verify|confirm|answer|tell|say|find)|could(?: not|n't) (?:find|verify|confirm|locate|be (?:found|verified))|(?:do|does|did)(?: not|n't) (?:say|mention|state|specify|cover|contain|include|know|have|give|address)|not (?:found|mentioned|stated|covered|specified|in the documents)|no (?:information|mention|data|answer|record|passage|document)|nothing (?:on|about|in)|hold nothing|i don't know|unable to|unclear from)/iu;
const STILL_OPEN =
  /待定|待确认|待.{1,8}(?:确认|核实|答复|回复|批复|审批|明确|决定)|没(?:回|答)(?:复|应|话|音)?(?=$|[，,。；;！!])|先?(?:留着|放着|挂着|搁置|放一放)|待(?:核实|落实|讨论|商定|明确|答复|回复|批复)|未定|没(?:有)?(?:定|确定|想好|敲定|落实|结论|答复|下文|谈妥|着落|回复|最后)|尚未|还(?:没|未|不(?:确定|知道|清楚))|悬而未决|未(?:决|确定|落实|明确)|有待|需要(?:进一步)?(?:确认|查清|弄清)|(?:要|得|等|再)(?:去)?(?:问|确认|核实|查)(?:一下|清楚)?|存疑|疑问|再议|(?:还|仍)?在(?:讨论|谈|商量|评估|研究|走流程|等)|(?:讨论|评估|审批|协商|谈判)中|以后再(?:说|定)|(?:不|没人|无人)知道|搁置|\b(?:TBD|TBC|to be (?:decided|determined|confirmed|clarified|agreed)|undecided|unresolved|unclear|unanswered|unsettled|pending|outstanding|open (?:question|point|issue|item)|still (?:open|need to|have to|waiting|don't|do not|unsure|no|not|unknown|up in the air)|not (?:yet )?(?:decided|settled|clear|sure|known|agreed|confirmed)|(?:have|has)(?:n't| not|n’t) (?:\w+ )?(?:decided|settled|agreed|heard|confirmed|answered|replied|responded|figured|worked out|chosen|picked)|yet to|awaiting|waiting (?:for|on|to hear)|up in the air|no (?:decision|answer|word|conclusion)|under (?:discussion|review|consideration)|(?:being|to be|will be) (?:discussed|reviewed|clarified)|parked|on hold|need to find out|don't know yet|nobody knows)\b/iu;
const CLOSED =
  /已(?:经)?(?:解决|确定|敲定|定(?:了|下|为)|落实|明确|答复|有结论|关闭|批复)|定下来了?|有结论了|不用(?:再)?(?:管|问|查|跟)|解决了|搞定了|不再是问题|\b(?:resolved|settled|closed|solved|sorted(?: out)?|answered|no longer (?:open|an issue|a question)|never mind|decided on|has been (?:decided|agreed|confirmed)|we (?:have )?(?:decided|agreed|settled)|figured out|cleared up|can be closed|turned out)\b/iu;

/** Whether a sentence says that something is not settled yet. */
export function leavesOpen(sentence: string): boolean {
  return STILL_OPEN.test(sentence) && !closes(sentence);
}

/** Whether a sentence says that something is settled now. */
export function closes(sentence: string): boolean {
  return (
    CLOSED.test(sentence) &&
    !/还没|还未|尚未|未能|没有?|等.{0,12}再|\b(?:not|nobody|no one|yet to|still|until|once|unless)\b|n['’]t\b/iu.test(
      sentence,
    )
  );
}

/** Whether a sentence of an answer says that something was not found. */
export function saysNotFound(sentence: string): boolean {
  return NOT_ANSWERED.test(sentence);
}

/** Which of the questions of a message its answer leaves open: those named or echoed where it says so, or all. */
export function unansweredQuestions(
  asked: readonly SaidSentence[],
  answer: string,
  sentences: readonly SaidSentence[],
  words: ContentWords,
): string[] {
  const failing = sentences.filter(({ text }) => NOT_ANSWERED.test(text)).map(({ text }) => text);
  const questions = asked.filter((sentence) => sentence.isQuestion).map((sentence) => sentence.text);
  if (failing.length === 0 || questions.length === 0) return [];
  // A long answer that says in passing what it does not cover did answer.
  if (failing.length * 4 < sentences.length && !/\[\d+\]/.test(answer) && sentences.length > 6) return [];
  const parts = questions.flatMap((question) => splitQuestion(question));
  if (parts.length <= 1 || failing.length >= sentences.length) return questions.map(asLine);
  const open = parts.filter((part) =>
    failing.some((text) => text.includes(part) || overlap(words(part), words(text)) >= 0.6),
  );
  return (open.length > 0 ? open : questions).map(asLine);
}

/** Whether what is said now is about the same as an open point, so that it can close it. */
export function isAbout(open: Statement, said: Statement, least: number): boolean {
  return overlap([...open.subject], [...said.subject]) >= least;
}

function overlap(of: readonly string[], within: readonly string[]): number {
  if (of.length === 0) return 0;
  const there = new Set(within);
  return of.filter((word) => there.has(word)).length / of.length;
}
