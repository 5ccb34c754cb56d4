import { isChinese } from '../../text/language.ts';
import { queryKey } from '../../text/query-key.ts';
import type { ModelTask, Round } from '../chat-model.ts';
import { clipToTokens } from '../tokens.ts';
import { leadsToQuote } from './answer-offline.ts';
import { chooseLines } from './choose-lines.ts';
import { citedSources } from './cited-sources.ts';
import type { ContentWords } from './coverage.ts';
import { doubtfulItems } from './doubtful-items.ts';
import { closes, isAbout, leavesOpen, saysNotFound, unansweredQuestions } from './open-points.ts';
import { condense, isQuestion, MAX_LINE_TOKENS, type SaidSentence, saidSentences } from './said-sentences.ts';
import { clauseStatements, givesAllOf, hardValues, readStatement, type Statement } from './statement.ts';
import { isInstruction, MIN_STATED_WORTH, MIN_WORTH, statementWorth } from './statement-worth.ts';
import { parseSummary, type SummaryLine, type SummarySection } from './summary-form.ts';
import { countWords, isStaleAnswer, type SummaryItem, supersededItems, type WordCounts } from './supersede.ts';
import { writtenTerms } from './written-terms.ts';

const MAX_TOPIC_WORDS = 6;
/** Of a line of an old summary, in UTF-16 units: more is never one line of ours. */
const MAX_LINE_LENGTH = 1_500;

/**
 * Merges rounds into the running summary by quoting: sentences and clauses of people and answers under headings that
 * keep them apart, nothing of its own (R47). What a later statement corrects is dropped wherever it stands. Returns
 * at most `maxTokens` tokens, blank only where `maxTokens` is 0. Time is linear in the rounds; never throws.
 */
export function summariseOffline(task: Extract<ModelTask, { kind: 'summarise' }>, words: ContentWords): string {
  const memory = new Memory(words);
  for (const line of parseSummary(task.summary.toWellFormed())) memory.restore(line);
  for (const round of task.rounds) memory.addRound(round);
  const summary = chooseLines(memory.items, { maxTokens: task.maxTokens, language: languageOf(task) });
  return summary.trim() || fallback(task);
}

/** Chinese where most of the conversation is, since its headings are for whoever reads the rest. */
function languageOf({ summary, rounds }: Extract<ModelTask, { kind: 'summarise' }>): 'zh' | 'en' {
  const text = [...rounds.map((round) => round.question), rounds.length === 0 ? summary : ''].join('');
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const latin = text.match(/[A-Za-z]+/g)?.length ?? 0;
  return han > latin ? 'zh' : 'en';
}

/** Nothing worth keeping was said: the last question stands for the conversation. */
function fallback({ summary, rounds, maxTokens }: Extract<ModelTask, { kind: 'summarise' }>): string {
  const said = [rounds.at(-1)?.question, rounds.at(-1)?.answer, summary].find(
    (text) => text !== undefined && /[\p{L}\p{N}]/u.test(text) && !isInstruction(text),
  );
  const line = (said ?? '')
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 4_000);
  return clipToTokens(line, Math.min(maxTokens, 60), '').trim() || clipToTokens('-', maxTokens, '');
}

/** The summary while rounds are merged into it, one after the other. */
class Memory {
  items: SummaryItem[] = [];
  readonly #words: ContentWords;
  #place = 0;
  /** What the last statement or question of the user was about. */
  #topic: Statement | null = null;
  #counts: WordCounts = new Map();
  readonly #clauses = new WeakMap<SummaryItem, SummaryItem[]>();

  constructor(words: ContentWords) {
    this.#words = words;
  }

  /** Takes a line of the old summary as it stands. */
  restore({ section, text, isEarlier }: SummaryLine): void {
    const line =
      text.length > MAX_LINE_TOKENS ? clipToTokens(text.slice(0, MAX_LINE_LENGTH), MAX_LINE_TOKENS, '…') : text;
    this.items.push({ ...this.#newItem(section, readStatement(line, this.#words)), isEarlier });
  }

  addRound(round: Round): void {
    this.#counts = countWords(this.items);
    const asked = saidSentences(round.question);
    const answered = saidSentences(round.answer);
    for (const sentence of asked) this.#addUserSentence(sentence);
    this.#closeAnswered(asked, answered);
    for (const text of unansweredQuestions(asked, round.answer, answered, this.#words)) this.#addOpen(text);
    for (const sentence of answered) this.#addAnswerSentence(sentence);
  }

  #addUserSentence(sentence: SaidSentence): void {
    const isAsked = sentence.isQuestion && !leavesOpen(sentence.text);
    const text = isAsked ? statedPart(sentence.text) : sentence.text;
    for (const source of citedSources(sentence.text)) this.#addSource(source);
    if (isAsked) this.#noteTopic(sentence.text);
    if (text === '') return;
    const statement = this.#withTopic(this.#read(text, sentence.before));
    if (closes(text)) this.#dropOpen(statement, 0.5);
    if (leavesOpen(text)) {
      this.#addOpen(condense(text));
      return;
    }
    const isOnTopic = [...statement.subject].filter((word) => (this.#counts.get(word) ?? 0) >= 2).length >= 2;
    if (statementWorth(statement, 'user', isOnTopic) < MIN_STATED_WORTH) return;
    const item = this.#newItem(statement.isCorrecting ? 'correction' : 'user', statement);
    this.#supersede(item);
    this.#dropOpen(statement, 0.8);
    if (!this.#isKnown(item)) this.items.push(item);
  }

  #addAnswerSentence(sentence: SaidSentence): void {
    if (sentence.isQuestion || saysNotFound(sentence.text) || leadsToQuote(sentence.text)) return;
    for (const source of citedSources(sentence.text)) this.#addSource(source);
    const statement = this.#read(sentence.text, '');
    if (statementWorth(statement, 'assistant') < MIN_WORTH) return;
    const item = this.#newItem('assistant', statement);
    if (isStaleAnswer(item, this.items)) return;
    this.#supersede(item);
    if (!this.#isKnown(item)) this.items.push(item);
  }

  /** A sentence as a statement; one that does not say what it is about takes that from the sentence before it. */
  #read(text: string, before: string): Statement {
    const statement = readStatement(condense(text), this.#words);
    if (statement.subject.size > 0 || before === '' || statement.values.length === 0) return statement;
    return readStatement(condense(`${before} ${text}`), this.#words);
  }

  #noteTopic(question: string): void {
    const statement = readStatement(question, this.#words);
    if (statement.subject.size > 0) this.#topic = statement;
  }

  /** `No, 60 days.`: about what was said or asked right before, whose words are put before it. */
  #withTopic(statement: Statement): Statement {
    const isBare = statement.subject.size === 0 && statement.isCorrecting && statement.values.length > 0;
    if (!isBare || this.#topic === null) {
      if (statement.subject.size > 0) this.#topic = statement;
      return statement;
    }
    const { about, subject } = this.#topic;
    const topic = writtenTerms(about, this.#words)
      .filter((term) => this.#words(term).some((word) => subject.has(word)))
      .slice(0, MAX_TOPIC_WORDS);
    return readStatement(`${topic.join(' ')}${isChinese(statement.text) ? '：' : ': '}${statement.text}`, this.#words);
  }

  /** Drops what an item makes untrue; of a line that says more than one thing only the clauses that are. */
  #supersede(item: SummaryItem): void {
    const clauses = new Map(this.items.map((other) => [other, this.#clausesOf(other)]));
    const gone = new Set(supersededItems(item, [...clauses.values()].flat(), this.#counts));
    const kept = this.items.filter((other) => !(clauses.get(other) ?? []).some((part) => gone.has(part)));
    const known = { hasSuperseded: gone.size > 0, counts: this.#counts };
    for (const doubtful of doubtfulItems(item, kept, known)) doubtful.isEarlier = true;
    if (gone.size === 0) return;
    this.items = this.items.flatMap((other) => {
      const parts = clauses.get(other) ?? [other];
      const kept = parts.filter((part) => !gone.has(part));
      if (kept.length === parts.length) return [other];
      return this.#withOnly(other, kept);
    });
  }

  #clausesOf(item: SummaryItem): SummaryItem[] {
    const known = this.#clauses.get(item);
    if (known) return known;
    const statements =
      item.section === 'open' || item.section === 'source'
        ? [item.statement]
        : clauseStatements(item.statement, this.#words);
    const parts = statements.length === 1 ? [item] : statements.map((statement) => ({ ...item, statement }));
    this.#clauses.set(item, parts);
    return parts;
  }

  #withOnly(item: SummaryItem, parts: readonly SummaryItem[]): SummaryItem[] {
    const text = parts
      .map((part) => part.statement.text)
      .join('')
      .replace(/^(?:\s|[，,；;、]|and\s)+|[，,；;、\s]+$/gu, '');
    const statement = readStatement(text, this.#words);
    const isAnswer = item.section === 'assistant';
    const least = isAnswer ? MIN_WORTH : MIN_STATED_WORTH;
    const isTelling = text !== '' && statementWorth(statement, isAnswer ? 'assistant' : 'user') >= least;
    return isTelling ? [{ ...item, statement }] : [];
  }

  /** Said already, in as many words or more; a shorter version that was kept so far gives way. */
  #isKnown(item: SummaryItem): boolean {
    const key = queryKey(item.statement.text);
    const twin = this.items.find(
      (other) =>
        other.section === item.section &&
        (queryKey(other.statement.text) === key || isCovered(item.statement, other.statement)),
    );
    if (twin !== undefined) return true;
    this.items = this.items.filter(
      (other) => other.section !== item.section || !isCovered(other.statement, item.statement),
    );
    return false;
  }

  #addOpen(text: string): void {
    const item = this.#newItem('open', readStatement(condense(text), this.#words));
    if (!this.#isKnown(item)) this.items.push(item);
  }

  #addSource(source: string): void {
    const key = queryKey(source);
    if (this.items.some((item) => item.section === 'source' && queryKey(item.statement.text) === key)) return;
    this.#push('source', readStatement(source, this.#words));
  }

  /** A question that was open and is answered now is open no more. */
  #closeAnswered(asked: readonly SaidSentence[], answered: readonly SaidSentence[]): void {
    if (answered.some(({ text }) => saysNotFound(text))) return;
    for (const sentence of asked) {
      if (sentence.isQuestion && !leavesOpen(sentence.text))
        this.#dropOpen(readStatement(sentence.text, this.#words), 0.8);
    }
  }

  #dropOpen(statement: Statement, least: number): void {
    this.items = this.items.filter((item) => item.section !== 'open' || !isAbout(item.statement, statement, least));
  }

  #push(section: SummarySection, statement: Statement): void {
    this.items.push(this.#newItem(section, statement));
  }

  #newItem(section: SummarySection, statement: Statement): SummaryItem {
    this.#place += 1;
    return { section, statement, place: this.#place, isEarlier: false };
  }
}

/** Of a question only what it states before it asks: `我们有 12 人，能申请吗？` */
function statedPart(question: string): string {
  const clauses = question.split(/(?<=[，,；;。])\s*/u);
  const stated = clauses
    .slice(0, -1)
    .filter(
      (clause) =>
        !isQuestion(clause) &&
        !/^(?:如果|假如|要是|若|(?:if|suppose|when|how|what|can|is|are|do|does|who|which)\b)/iu.test(clause),
    );
  return stated.join('').replace(/[，,；;\s]+$/u, '');
}

function isCovered(part: Statement, whole: Statement): boolean {
  if (part === whole || hardValues(part.values).length === 0 || !givesAllOf(whole, part)) return false;
  const missing = [...part.subject].filter((word) => !whole.subject.has(word)).length;
  return missing <= part.subject.size * 0.2;
}
