import type { Logger } from 'pino';
import type { ContextInfo } from '../../contract/chat.ts';
import type { ChatModel, ModelReply } from '../models/chat-model.ts';
import { countTokens } from '../models/tokens.ts';
import { type Answered, costedPassages, streamAnswer } from './agent/answer.ts';
import { verifyEvidence } from './agent/assess.ts';
import { buildCitations, unknownMarkers } from './agent/citations.ts';
import { type Evidence, MAX_EVIDENCE_PARAGRAPHS, type SearchHit } from './agent/evidence.ts';
import { type Gathered, gatherEvidence } from './agent/gather-evidence.ts';
import { fillTemplate } from './agent/prompts.ts';
import { type Rewritten, rewriteQuestion } from './agent/rewrite.ts';
import type { AskedQuestion } from './ask-question.ts';
import type { AnswerUsage, EmitChatEvent } from './chat-events.ts';
import type { ChatStore, FinishedRecord } from './chat-store.ts';
import { chooseWindow, type HistoryWindow } from './context/window.ts';
import { describeFailure } from './describe-failure.ts';
import { recordSteps } from './record-steps.ts';

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
  store: Pick<ChatStore, 'listRounds'>;
  search(query: EvidenceQuery): Promise<SearchHit[]>;
  /** `auxiliary` rewrites and verifies, `answer` writes (R17, R21). */
  models: { answer: ChatModel; auxiliary: ChatModel };
  limits: AnswerLimits;
  log: Logger;
}

/** Uncompacted rounds beyond this many can't fit any limit. */
const MAX_ROUNDS_READ = 1000;

const TRUNCATED_NOTE = {
  zh: '（回答达到长度上限，在此截断。）',
  en: '(The answer reached its length limit and ends here.)',
};

/** What is known of an answer so far; a failure keeps it. */
interface Progress {
  startedMs: number;
  usage: AnswerUsage;
  context: ContextInfo | null;
  rewritten: Rewritten | null;
  gathered: Gathered | null;
  shown: Evidence[];
  answer: string;
  reasoning: string;
  finishReason: ModelReply['finishReason'] | null;
}

/**
 * The table of contents of an answer: history, standalone query, evidence, answer, citations. Returns the
 * record to store, also for a failure (state `failed`, `details.error`). Throws only when the database fails.
 */
export async function answerQuestion(
  ports: AnswerPorts,
  asked: AskedQuestion,
  run: { emit: EmitChatEvent; signal: AbortSignal },
): Promise<{ finished: FinishedRecord; usage: AnswerUsage }> {
  const progress = newProgress();
  try {
    await run.emit({ kind: 'status', status: { phase: 'context' } });
    const window = await readHistory(ports, asked, progress);
    progress.rewritten = await rewrite(ports, asked, { window, signal: run.signal });
    addUsage(progress, progress.rewritten.usage);
    progress.gathered = await gather(ports, asked, { progress, ...run });
    const { trace, stopReason } = progress.gathered;
    await run.emit({ kind: 'status', status: { phase: 'generating', rounds: trace.length, stop_reason: stopReason } });
    await write(ports, asked, { window, progress, ...run });
    return { finished: finishedRecord(asked, progress, null), usage: progress.usage };
  } catch (error) {
    const failure = describeFailure(run.signal.aborted ? run.signal.reason : error);
    ports.log.warn({ err: error, code: failure.code, record: asked.recordId }, 'an answer failed');
    return { finished: finishedRecord(asked, progress, failure), usage: progress.usage };
  }
}

function newProgress(): Progress {
  return {
    startedMs: performance.now(),
    usage: { promptTokens: 0, completionTokens: 0 },
    context: null,
    rewritten: null,
    gathered: null,
    shown: [],
    answer: '',
    reasoning: '',
    finishReason: null,
  };
}

async function readHistory(ports: AnswerPorts, asked: AskedQuestion, progress: Progress): Promise<HistoryWindow> {
  const { dialogueNumber } = asked.application;
  const rounds = dialogueNumber === 0 ? [] : await ports.store.listRounds(asked.chatId, MAX_ROUNDS_READ);
  const { recentTokens } = ports.limits;
  const window = chooseWindow({ rounds, summaryTokens: 0, dialogueNumber, recentTokens });
  progress.context = {
    enabled: dialogueNumber > 0,
    compacted: false,
    compacted_rounds: 0,
    recent_rounds: window.carried.length,
    revision: 0,
    through_record_id: null,
    token_budget: recentTokens,
    estimated_tokens: window.tokens,
    threshold_exceeded: window.exceeded,
    compaction_reason: 'none',
  };
  return window;
}

function rewrite(
  ports: AnswerPorts,
  asked: AskedQuestion,
  { window, signal }: { window: HistoryWindow; signal: AbortSignal },
): Promise<Rewritten> {
  return rewriteQuestion(ports.models.auxiliary, {
    question: asked.message,
    summary: '',
    rounds: window.carried,
    contextTokens: ports.limits.contextTokens,
    signal,
  });
}

function gather(
  ports: AnswerPorts,
  asked: AskedQuestion,
  { progress, emit, signal }: { progress: Progress; emit: EmitChatEvent; signal: AbortSignal },
): Promise<Gathered> {
  const { application, excludedParagraphIds } = asked;
  const { maxRounds, evidenceTokens, contextTokens } = ports.limits;
  return gatherEvidence(
    {
      question: standalone(asked, progress),
      query: standalone(asked, progress),
      hasDatasets: application.datasetIds.length > 0,
      maxRounds,
      limits: { maxTokens: evidenceTokens, maxParagraphs: MAX_EVIDENCE_PARAGRAPHS },
      signal,
    },
    {
      search: (query) => ports.search({ query, application, excludedParagraphIds, signal }),
      assess: async ({ question, evidence, searchedQueries }) => {
        const passages = costedPassages(evidence);
        const verified = await verifyEvidence(ports.models.auxiliary, {
          question,
          passages,
          searchedQueries,
          contextTokens,
          signal,
        });
        addUsage(progress, verified.usage);
        return verified.verdict;
      },
      emit: (status) => emit({ kind: 'status', status }),
    },
  );
}

/** A follow-up is judged and answered in its standalone form: its parts are only there. */
function standalone(asked: AskedQuestion, progress: Progress): string {
  return progress.rewritten?.query ?? asked.message;
}

async function write(
  ports: AnswerPorts,
  asked: AskedQuestion,
  run: { window: HistoryWindow; progress: Progress; emit: EmitChatEvent; signal: AbortSignal },
): Promise<void> {
  const { progress, emit } = run;
  const say = async (content: string, reasoningContent = '') => {
    progress.answer += content;
    progress.reasoning += reasoningContent;
    await emit({ kind: 'answer-delta', content, reasoningContent });
  };
  const designated = designatedAnswer(asked, progress);
  if (designated !== null) return say(designated);

  const answered = await generate(ports, asked, { ...run, say });
  progress.shown = answered.evidence;
  progress.finishReason = answered.reply.finishReason;
  addUsage(progress, {
    promptTokens: answered.reply.usage.promptTokens ?? estimate(answered),
    completionTokens: answered.reply.usage.completionTokens ?? countTokens(progress.answer),
  });
  await closeAnswer(asked, progress, say);
}

function generate(
  ports: AnswerPorts,
  asked: AskedQuestion,
  run: {
    window: HistoryWindow;
    progress: Progress;
    signal: AbortSignal;
    say: (content: string, reasoningContent?: string) => Promise<void>;
  },
): Promise<Answered> {
  const { gathered } = run.progress;
  if (!gathered) throw new Error('An answer needs gathered evidence.');
  const { modelSetting } = asked.application;
  const { contextTokens, maxTokens } = ports.limits;
  return streamAnswer(
    ports.models.answer,
    {
      question: asked.message,
      standaloneQuestion: standalone(asked, run.progress),
      gathered,
      summary: null,
      rounds: run.window.carried,
      settings: modelSetting,
      contextTokens,
      maxTokens,
      signal: run.signal,
    },
    ({ content, reasoningContent }) => run.say(content, modelSetting.reasoning_content_enable ? reasoningContent : ''),
  );
}

/** With no evidence at all an application may answer with fixed words (R124). */
function designatedAnswer(asked: AskedQuestion, progress: Progress): string | null {
  const { status, value } = asked.application.datasetSetting.no_references_setting;
  if (status !== 'designated_answer' || (progress.gathered?.evidence.length ?? 0) > 0) return null;
  return fillTemplate(value, { question: asked.message });
}

/** The last words on an answer: it was cut, or it cites what was never found. */
async function closeAnswer(
  asked: AskedQuestion,
  progress: Progress,
  say: (content: string) => Promise<void>,
): Promise<void> {
  const zh = /\p{Script=Han}/u.test(asked.message);
  if (progress.finishReason === 'length') await say(`\n\n${zh ? TRUNCATED_NOTE.zh : TRUNCATED_NOTE.en}`);
  const unknown = unknownMarkers(progress.answer, progress.shown).map((n) => `[${n}]`);
  if (unknown.length > 0) {
    const list = unknown.join(' ');
    await say(
      zh ? `\n\n（${list} 不是检索到的资料，无法核实。）` : `\n\n(${list}: no such source was found; unverified.)`,
    );
  }
}

function finishedRecord(
  asked: AskedQuestion,
  progress: Progress,
  failure: FinishedRecord['details']['error'] | null,
): FinishedRecord {
  const error = failure ?? emptyOrCut(progress);
  const state = error ? 'failed' : 'done';
  return {
    state: error?.code === 'stopped' ? 'stopped' : state,
    answerText: progress.answer || null,
    reasoningContent: progress.reasoning,
    answerTextTokens: countTokens(progress.answer),
    messageTokens: progress.usage.promptTokens,
    answerTokens: progress.usage.completionTokens,
    runTimeSeconds: (performance.now() - progress.startedMs) / 1000,
    paddingProblemText: progress.rewritten?.rewritten ? progress.rewritten.query : null,
    details: { ...recordSteps(asked, progress), ...(error ? { error } : {}) },
    citations: buildCitations(progress.answer, progress.shown),
    agentTrace: progress.gathered?.trace ?? [],
    stopReason: progress.gathered?.stopReason ?? null,
    contextInfo: progress.context,
  };
}

/** An empty or cut answer is never stored as a success. */
function emptyOrCut(progress: Progress): FinishedRecord['details']['error'] | null {
  if (progress.finishReason === 'unfinished') {
    return { code: 'stream_cut', message: 'The model broke off before the answer was complete; ask again.' };
  }
  if (progress.finishReason === 'content_filter') {
    return { code: 'content_filter', message: "The model's provider withheld the answer." };
  }
  if (progress.answer.trim() === '') {
    return { code: 'empty_answer', message: 'The model gave an empty answer; ask again or choose another model.' };
  }
  return null;
}

function estimate(answered: Answered): number {
  return answered.messages.reduce((sum, message) => sum + countTokens(message.content), 0);
}

function addUsage(progress: Progress, usage: AnswerUsage): void {
  progress.usage.promptTokens += usage.promptTokens;
  progress.usage.completionTokens += usage.completionTokens;
}
