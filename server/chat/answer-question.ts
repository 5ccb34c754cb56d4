import type { Logger } from 'pino';
import type { ChatModel } from '../models/chat-model.ts';
import { isChinese } from '../text/language.ts';
import { costedPassages, streamAnswer } from './agent/answer.ts';
import { verifyEvidence } from './agent/assess.ts';
import { unknownMarkers } from './agent/citations.ts';
import { MAX_EVIDENCE_PARAGRAPHS, type SearchHit } from './agent/evidence.ts';
import { type Gathered, gatherEvidence } from './agent/gather-evidence.ts';
import { fillTemplate, summaryMessage } from './agent/prompts.ts';
import { rewriteQuestion } from './agent/rewrite.ts';
import { usageOf } from './agent/usage.ts';
import { type AnswerProgress, addUsage, finishRecord, newProgress } from './answer-progress.ts';
import type { AskedQuestion } from './ask-question.ts';
import type { AnswerUsage, EmitChatEvent } from './chat-events.ts';
import type { ChatStore, FinishedRecord } from './chat-store.ts';
import type { ContextStore } from './context/context-store.ts';
import { type LoadedContext, loadContext } from './context/load-context.ts';
import { describeFailure } from './describe-failure.ts';

export interface AnswerLimits {
  maxRounds: number;
  evidenceTokens: number;
  recentTokens: number;
  contextTokens: number;
  maxTokens: number;
}

export interface EvidenceQuery {
  query: string;
  application: AskedQuestion['application'];
  excludedParagraphIds: readonly string[];
  signal: AbortSignal;
}

export interface AnswerPorts {
  store: Pick<ChatStore, 'listRoundSizes' | 'readRounds'>;
  contexts: ContextStore;
  search(query: EvidenceQuery): Promise<SearchHit[]>;
  /** `auxiliary` rewrites, verifies and summarises, `answer` writes (R17, R21). */
  models: { answer: ChatModel; auxiliary: ChatModel };
  limits: AnswerLimits;
  log: Logger;
}

const TRUNCATED_NOTE = {
  zh: '（回答达到长度上限，在此截断。）',
  en: '(The answer reached its length limit and ends here.)',
};

interface AnswerRun {
  ports: AnswerPorts;
  asked: AskedQuestion;
  progress: AnswerProgress;
  emit: EmitChatEvent;
  signal: AbortSignal;
}

/**
 * The table of contents of an answer: history, standalone question, evidence, answer, citations. Returns the
 * record to store, also for a failure (state `failed` or `stopped`, `details.error`). Never throws.
 */
export async function answerQuestion(
  ports: AnswerPorts,
  asked: AskedQuestion,
  { emit, signal }: { emit: EmitChatEvent; signal: AbortSignal },
): Promise<{ finished: FinishedRecord; usage: AnswerUsage }> {
  const progress = newProgress();
  const run: AnswerRun = { ports, asked, progress, emit, signal };
  try {
    await emit({ kind: 'status', status: { phase: 'context' } });
    const history = await readHistory(run);
    const question = await standaloneQuestion(run, history);
    const gathered = await gather(run, question);
    const { trace, stopReason } = gathered;
    await emit({ kind: 'status', status: { phase: 'generating', rounds: trace.length, stop_reason: stopReason } });
    await write(run, { history, question, gathered });
    // Whoever asked to stop while the last words came is told that it stopped, so it did. To any other end it is whole.
    if (describeFailure(signal.reason).code === 'stopped') throw signal.reason;
    return { finished: finishRecord(asked, progress, null), usage: progress.usage };
  } catch (error) {
    const failure = describeFailure(signal.aborted ? signal.reason : error);
    const level = failure.code === 'stopped' ? 'info' : 'warn';
    ports.log[level]({ err: error, code: failure.code, record: asked.recordId }, 'an answer ended early');
    return { finished: finishRecord(asked, progress, failure), usage: progress.usage };
  }
}

async function readHistory({ ports, asked, progress, emit, signal }: AnswerRun): Promise<LoadedContext> {
  const history = await loadContext(
    { ...ports, model: ports.models.auxiliary },
    {
      chatId: asked.chatId,
      dialogueNumber: asked.application.dialogueNumber,
      limits: ports.limits,
      fence: asked.fence,
      onCompacting: () => emit({ kind: 'status', status: { phase: 'compacting' } }),
      signal,
    },
  );
  progress.context = history.info;
  addUsage(progress, history.usage);
  return history;
}

/** A follow-up is searched, judged and answered in its standalone form: its parts are only there. */
async function standaloneQuestion(
  { ports, asked, progress, signal }: AnswerRun,
  { summary, rounds }: LoadedContext,
): Promise<string> {
  progress.rewritten = await rewriteQuestion(ports.models.auxiliary, {
    question: asked.message,
    summary,
    rounds,
    contextTokens: ports.limits.contextTokens,
    signal,
  });
  addUsage(progress, progress.rewritten.usage);
  return progress.rewritten.query;
}

async function gather({ ports, asked, progress, emit, signal }: AnswerRun, question: string): Promise<Gathered> {
  const { application, excludedParagraphIds } = asked;
  const { maxRounds, evidenceTokens, contextTokens } = ports.limits;
  const gathered = await gatherEvidence(
    {
      question,
      hasDatasets: application.datasetIds.length > 0,
      maxRounds,
      limits: { maxTokens: evidenceTokens, maxParagraphs: MAX_EVIDENCE_PARAGRAPHS },
      signal,
    },
    {
      search: (query) => ports.search({ query, application, excludedParagraphIds, signal }),
      assess: async ({ evidence, searchedQueries }) => {
        const passages = costedPassages(evidence);
        const request = { question, passages, searchedQueries, contextTokens, signal };
        const { verdict, usage } = await verifyEvidence(ports.models.auxiliary, request);
        addUsage(progress, usage);
        return verdict;
      },
      onRound: (soFar) => Object.assign(progress, soFar),
      emit: (status) => emit({ kind: 'status', status }),
    },
  );
  progress.stopReason = gathered.stopReason;
  return gathered;
}

async function write(
  run: AnswerRun,
  found: { history: LoadedContext; question: string; gathered: Gathered },
): Promise<void> {
  const { asked, progress, emit } = run;
  const say = async (content: string, reasoningContent = '') => {
    progress.answer += content;
    progress.reasoning += reasoningContent;
    await emit({ kind: 'answer-delta', content, reasoningContent });
  };
  const designated = designatedAnswer(asked, progress);
  if (designated !== null) return say(designated);
  await generate(run, { ...found, say });
  await closeAnswer(asked, progress, say);
}

async function generate(
  { ports, asked, progress, signal }: AnswerRun,
  found: {
    history: LoadedContext;
    question: string;
    gathered: Gathered;
    say(content: string, reasoningContent: string): Promise<void>;
  },
): Promise<void> {
  const { modelSetting } = asked.application;
  const { contextTokens, maxTokens } = ports.limits;
  const answered = await streamAnswer(
    ports.models.answer,
    {
      question: asked.message,
      standaloneQuestion: found.question,
      gathered: found.gathered,
      summary: found.history.summary === '' ? null : summaryMessage(found.history.summary),
      rounds: found.history.rounds,
      settings: modelSetting,
      contextTokens,
      maxTokens,
      signal,
    },
    // What a model thinks is shown only where the application says so, and never becomes part of the trace (R84).
    (delta) => found.say(delta.content, modelSetting.reasoning_content_enable ? delta.reasoningContent : ''),
  );
  progress.shown = answered.evidence;
  progress.finishReason = answered.reply.finishReason;
  addUsage(progress, usageOf(answered.reply, answered.messages));
}

/** With no evidence at all an application may answer with fixed words (R124). */
function designatedAnswer(asked: AskedQuestion, progress: AnswerProgress): string | null {
  const { status, value } = asked.application.datasetSetting.no_references_setting;
  if (status !== 'designated_answer' || progress.evidence.length > 0) return null;
  return fillTemplate(value, { question: asked.message });
}

/** The last words on an answer: it was cut, or it cites what was never found. */
async function closeAnswer(
  asked: AskedQuestion,
  progress: AnswerProgress,
  say: (content: string) => Promise<void>,
): Promise<void> {
  const zh = isChinese(asked.message);
  if (progress.finishReason === 'length') await say(`\n\n${zh ? TRUNCATED_NOTE.zh : TRUNCATED_NOTE.en}`);
  const unknown = unknownMarkers(progress.answer, progress.shown).map((n) => `[${n}]`);
  if (unknown.length > 0) {
    const list = unknown.join(' ');
    await say(
      zh ? `\n\n（${list} 不是检索到的资料，无法核实。）` : `\n\n(${list}: no such source was found; unverified.)`,
    );
  }
}
