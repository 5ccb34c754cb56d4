import type { ChatStore, FinishedRecord } from '../chat/chat-store.ts';
import type { Round } from '../models/chat-model.ts';
import { countTokens } from '../models/tokens.ts';

/** A record that ended well and says nothing else. */
export const FINISHED: FinishedRecord = {
  state: 'done',
  answerText: 'an answer',
  reasoningContent: '',
  answerTextTokens: 2,
  messageTokens: 0,
  answerTokens: 0,
  runTimeSeconds: 0,
  paddingProblemText: null,
  details: {},
  citations: [],
  agentTrace: [],
  stopReason: null,
  contextInfo: null,
};

/** The last event of a stream, where a test needs no other. */
export const LAST_EVENTS = {
  firstNumber: 1,
  events: [{ kind: 'answer-end', usage: { promptTokens: 0, completionTokens: 0 } }],
} as const;

/** Stores a finished round as an answer does. Returns its record's id. `tokens`: what is said to be counted, for limits. */
export async function storeRound(
  store: ChatStore,
  chatId: string,
  round: Round & { questionTokens?: number; answerTokens?: number; state?: FinishedRecord['state'] },
): Promise<string> {
  const questionTokens = round.questionTokens ?? countTokens(round.question);
  const recordId = await store.insertRecord({ chatId, question: round.question, questionTokens });
  const answerTextTokens = round.answerTokens ?? countTokens(round.answer);
  await store.finishRecord(
    recordId,
    { ...FINISHED, state: round.state ?? 'done', answerText: round.answer, answerTextTokens },
    { fence: null, lastEvents: LAST_EVENTS },
  );
  return recordId;
}
