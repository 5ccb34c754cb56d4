import type { ContextInfo, StopReason, StreamError, TraceRow } from '../../contract/chat.ts';
import type { FinishReason } from '../models/chat-model.ts';
import { countTokens } from '../models/tokens.ts';
import { buildCitations } from './agent/citations.ts';
import type { Evidence } from './agent/evidence.ts';
import type { Rewritten } from './agent/rewrite.ts';
import type { Usage } from './agent/usage.ts';
import type { AskedQuestion } from './ask-question.ts';
import type { FinishedRecord } from './chat-store.ts';
import { recordSteps } from './record-steps.ts';

/** What is known of an answer so far; a failure keeps it. */
export interface AnswerProgress {
  startedMs: number;
  usage: Usage;
  context: ContextInfo | null;
  rewritten: Rewritten | null;
  /** Everything gathered, by number. */
  evidence: Evidence[];
  trace: TraceRow[];
  stopReason: StopReason | null;
  /** What the answering model was shown of the evidence. */
  shown: Evidence[];
  answer: string;
  reasoning: string;
  finishReason: FinishReason | null;
}

export function newProgress(): AnswerProgress {
  return {
    startedMs: performance.now(),
    usage: { promptTokens: 0, completionTokens: 0 },
    context: null,
    rewritten: null,
    evidence: [],
    trace: [],
    stopReason: null,
    shown: [],
    answer: '',
    reasoning: '',
    finishReason: null,
  };
}

export function addUsage(progress: AnswerProgress, usage: Usage): void {
  progress.usage.promptTokens += usage.promptTokens;
  progress.usage.completionTokens += usage.completionTokens;
}

/** The record of an answer that ended: `failure` is why it broke off, null where it came to its end. */
export function finishRecord(
  asked: AskedQuestion,
  progress: AnswerProgress,
  failure: StreamError | null,
): FinishedRecord {
  const error = failure ?? emptyOrCut(progress);
  return {
    state: stateOf(error),
    answerText: progress.answer || null,
    reasoningContent: progress.reasoning,
    answerTextTokens: countTokens(progress.answer),
    messageTokens: progress.usage.promptTokens,
    answerTokens: progress.usage.completionTokens,
    runTimeSeconds: (performance.now() - progress.startedMs) / 1000,
    paddingProblemText: progress.rewritten?.rewritten ? progress.rewritten.query : null,
    details: { ...recordSteps(asked, progress), ...(error ? { error } : {}) },
    citations: buildCitations(progress.answer, progress.shown),
    agentTrace: progress.trace,
    stopReason: progress.stopReason,
    contextInfo: progress.context,
  };
}

function stateOf(error: StreamError | null): FinishedRecord['state'] {
  if (error === null) return 'done';
  return error.code === 'stopped' || error.code === 'interrupted' ? error.code : 'failed';
}

/** An empty or cut answer is never stored as a success. */
function emptyOrCut(progress: AnswerProgress): StreamError | null {
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
