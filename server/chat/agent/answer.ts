import type { ChatMessage, ChatModel, ModelReply, ReplyDelta } from '../../models/chat-model.ts';
import { countTokens } from '../../models/tokens.ts';
import { type Evidence, passageTokens } from './evidence.ts';
import type { Gathered } from './gather-evidence.ts';
import { answerMessage, type PromptSettings, systemPrompt } from './prompts.ts';
import { type CostedRound, type FittedRequest, fitRequest } from './request-budget.ts';

export interface AnswerRequest {
  /** As the user put it; the conversation stands before it. */
  question: string;
  /** As it was searched and judged; the same where it needed no rewriting. */
  standaloneQuestion: string;
  gathered: Gathered;
  summary: ChatMessage | null;
  /** Oldest first. */
  rounds: readonly CostedRound[];
  settings: PromptSettings;
  contextTokens: number;
  maxTokens: number;
  signal: AbortSignal;
}

/** `evidence`: what the model was really shown, by number. */
export interface Answered {
  reply: ModelReply;
  evidence: Evidence[];
  messages: ChatMessage[];
}

/**
 * Streams the answer from the evidence of all rounds (R8, R15), within the request's limits (R41). Where
 * evidence is missing the model is told to say so (R16). Throws ModelError, and when aborted.
 */
export async function streamAnswer(
  model: ChatModel,
  request: AnswerRequest,
  onDelta: (delta: ReplyDelta) => void | Promise<void>,
): Promise<Answered> {
  const fitted = fitAnswer(request);
  const shown = new Set(fitted.passages.map((passage) => passage.n));
  const { standaloneQuestion, gathered } = request;
  const reply = await model.streamOpenAi(
    {
      task: {
        kind: 'answer',
        question: standaloneQuestion,
        asked: request.question,
        passages: fitted.passages,
        gap: gathered.gap,
        sufficient: gathered.stopReason === 'sufficient',
      },
      messages: fitted.messages,
      maxTokens: request.maxTokens,
      thinking: 'default',
      responseFormat: 'text',
      signal: request.signal,
    },
    onDelta,
  );
  return {
    reply,
    evidence: gathered.evidence.filter((paragraph) => shown.has(paragraph.n)),
    messages: fitted.messages,
  };
}

/** What one paragraph of evidence costs and looks like in a request. */
export function costedPassages(evidence: readonly Evidence[]) {
  return evidence.map((paragraph) => ({
    n: paragraph.n,
    document: paragraph.documentName,
    title: paragraph.title,
    content: paragraph.shownContent,
    tokens: passageTokens(paragraph),
    rank: paragraph.rank,
  }));
}

function fitAnswer(request: AnswerRequest): FittedRequest {
  const { question, gathered, settings } = request;
  const base = {
    kind: 'answer',
    question,
    asked: question,
    gap: gathered.gap,
    sufficient: gathered.stopReason === 'sufficient',
  } as const;
  return fitRequest(
    {
      system: systemPrompt('answer', settings),
      summary: request.summary,
      rounds: request.rounds,
      passages: costedPassages(gathered.evidence),
      user: (passages) => answerMessage({ ...base, passages }, settings),
      fixedUserTokens: countTokens(answerMessage({ ...base, passages: [] }, settings)),
    },
    { contextTokens: request.contextTokens, maxTokens: request.maxTokens },
  );
}
