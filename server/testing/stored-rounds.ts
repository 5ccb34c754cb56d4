import type { ChatStore, FinishedRecord } from '../chat/chat-store.ts';
import type { Database } from '../database/database.ts';
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

/** Stores a question that is being answered. Throws where the lease or the chat is gone. */
export async function startRecord(
  store: ChatStore,
  chatId: string,
  { question = 'q', questionTokens = 1, fence = null as number | null } = {},
): Promise<string> {
  const recordId = await store.insertRecord({ chatId, question, questionTokens, fence });
  if (recordId === null) throw new Error('The question was not stored.');
  return recordId;
}

/** Stores a finished round as an answer does. Returns its record's id. `tokens`: what is said to be counted, for limits. */
export async function storeRound(
  store: ChatStore,
  chatId: string,
  round: Round & { questionTokens?: number; answerTokens?: number; state?: FinishedRecord['state'] },
): Promise<string> {
  const questionTokens = round.questionTokens ?? countTokens(round.question);
  const recordId = await startRecord(store, chatId, { question: round.question, questionTokens });
  const answerTextTokens = round.answerTokens ?? countTokens(round.answer);
  await store.finishRecord(
    recordId,
    { ...FINISHED, state: round.state ?? 'done', answerText: round.answer, answerTextTokens },
    { fence: null, lastEvents: LAST_EVENTS },
  );
  return recordId;
}

/** Stores many rounds of an empty chat at once. */
export async function storeRounds(database: Database, chatId: string, rounds: readonly Round[]): Promise<void> {
  await database.query(
    `insert into max_kb_application_chat_record
       (id, chat_id, index, state, problem_text, answer_text, problem_tokens, answer_text_tokens)
     select gen_random_uuid(), $1, place, 'done', question, answer, question_tokens, answer_tokens
     from unnest($2::text[], $3::text[], $4::int[], $5::int[]) with ordinality
       as round (question, answer, question_tokens, answer_tokens, place)`,
    [
      chatId,
      rounds.map(({ question }) => question),
      rounds.map(({ answer }) => answer),
      rounds.map(({ question }) => countTokens(question)),
      rounds.map(({ answer }) => countTokens(answer)),
    ],
  );
}
