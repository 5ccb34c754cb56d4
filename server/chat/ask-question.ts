import { setTimeout } from 'node:timers/promises';
import type { Application } from '../applications/application.ts';
import type { ApplicationStore } from '../applications/application-store.ts';
import { countTokens } from '../models/tokens.ts';
import { storableText } from '../text/storable.ts';
import { type AnswerPorts, answerQuestion } from './answer-question.ts';
import { ChatError } from './chat-error.ts';
import type { AnswerUsage, ChatEvent, EmitChatEvent } from './chat-events.ts';
import type { ChatStore, FinishedRecord } from './chat-store.ts';
import { describeFailure } from './describe-failure.ts';
import type { SessionLease, SessionLock } from './session-lock.ts';

/** A question has at most this many estimated tokens (R38). */
export const MAX_QUESTION_TOKENS = 4000;

/** No answer takes longer; a model that hangs on must not hold a conversation for ever. */
const ANSWER_DEADLINE_MS = 10 * 60_000;

const STORE_PAUSES_MS = [200, 1000, 3000];

export interface AskPorts extends AnswerPorts {
  store: ChatStore;
  applications: ApplicationStore;
  lock: SessionLock;
  /** Ends every running answer when the server shuts down. */
  shutdown: AbortSignal;
  /** Answers under way; a shutdown waits for them to be stored. */
  running: Set<Promise<void>>;
}

export interface Question {
  chatId: string;
  /** Who asks; the chat must be theirs (R72). */
  clientId: string;
  message: string;
  /** "Answer again": paragraphs already used for this very question stay out. */
  reChat: boolean;
}

/** A question that was accepted: stored as running, its conversation held. `run` must be called, once. */
export interface AcceptedQuestion {
  chatId: string;
  recordId: string;
  /** Answers, stores, frees the conversation, then emits the end. Never throws. */
  run(emit: EmitChatEvent): Promise<void>;
}

/**
 * Takes a question or refuses it before anything is sent: blank, too long (R38), no such chat of this
 * client, or busy (R65). Throws ChatError.
 */
export async function acceptQuestion(ports: AskPorts, question: Question): Promise<AcceptedQuestion> {
  const message = storableText(question.message).trim();
  const tokens = checkMessage(message);
  const { chat, application } = await findOwnChat(ports, question);
  const lease = await ports.lock.tryAcquire(chat.id);
  if (!lease) throw new ChatError('busy', 'This conversation is still answering; wait for it or stop it.');
  try {
    const excluded = question.reChat ? await ports.store.listUsedParagraphIds(chat.id, message) : [];
    const recordId = await ports.store.insertRecord({ chatId: chat.id, question: message, questionTokens: tokens });
    const asked = { chatId: chat.id, recordId, application, message, excludedParagraphIds: excluded };
    return {
      chatId: chat.id,
      recordId,
      run: (emit) => tracked(ports.running, runQuestion(ports, asked, { lease, emit: quietly(emit) })),
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** The chat, if it exists and belongs to this client; another's answers exactly as an unknown one (R73). */
export async function findOwnChat(
  ports: Pick<AskPorts, 'store' | 'applications'>,
  { chatId, clientId }: { chatId: string; clientId: string },
) {
  const chat = await ports.store.findChat(chatId);
  const application = chat?.clientId === clientId ? await ports.applications.find(chat.applicationId) : null;
  if (!chat || !application) throw new ChatError('chat_not_found', 'This conversation does not exist.');
  return { chat, application };
}

export interface AskedQuestion {
  chatId: string;
  recordId: string;
  application: Application;
  message: string;
  excludedParagraphIds: string[];
}

/** Order matters: the answer is stored, then the conversation freed, then the end is told (R66). */
async function runQuestion(
  ports: AskPorts,
  asked: AskedQuestion,
  { lease, emit }: { lease: SessionLease; emit: EmitChatEvent },
): Promise<void> {
  const signal = AbortSignal.any([ports.shutdown, AbortSignal.timeout(ANSWER_DEADLINE_MS)]);
  let end: ChatEvent;
  try {
    const { finished, usage } = await answerQuestion(ports, asked, { emit, signal });
    end = await store(ports, asked.recordId, { finished, usage });
  } finally {
    await lease.release();
  }
  await emit(end);
}

/** An answer that could not be stored is a failed one, whatever the reader saw of it. */
async function store(
  ports: AskPorts,
  recordId: string,
  { finished, usage }: { finished: FinishedRecord; usage: AnswerUsage },
): Promise<ChatEvent> {
  try {
    if (!(await finishPatiently(ports, recordId, finished))) throw new Error('The record was not running any more.');
    const { error } = finished.details;
    return error ? { kind: 'answer-failed', error } : { kind: 'answer-end', usage };
  } catch (error) {
    ports.log.error({ err: error, record: recordId }, 'an answer could not be stored');
    await ports.store.failRecord(recordId).catch(() => {
      // The database is away; the record is found unfinished at a later start.
    });
    return { kind: 'answer-failed', error: describeFailure(error) };
  }
}

/** A database that was away for a moment must not cost an answer that took minutes. */
async function finishPatiently(ports: AskPorts, recordId: string, finished: FinishedRecord): Promise<boolean> {
  for (const pauseMs of STORE_PAUSES_MS) {
    try {
      return await ports.store.finishRecord(recordId, finished);
    } catch (error) {
      ports.log.warn({ err: error, record: recordId, pauseMs }, 'an answer is stored again after a pause');
      await setTimeout(pauseMs);
    }
  }
  return ports.store.finishRecord(recordId, finished);
}

function tracked(running: Set<Promise<void>>, answer: Promise<void>): Promise<void> {
  running.add(answer);
  return answer.finally(() => running.delete(answer));
}

function checkMessage(message: string): number {
  if (message === '') throw new ChatError('blank_question', 'The question is blank.');
  const tokens = countTokens(message);
  if (tokens > MAX_QUESTION_TOKENS) {
    throw new ChatError(
      'question_too_long',
      `The question has about ${tokens} tokens; at most ${MAX_QUESTION_TOKENS} are possible. Shorten it or put the material into a document.`,
      [tokens, MAX_QUESTION_TOKENS],
    );
  }
  return tokens;
}

/** A reader who left must not end the answer: it is stored, and found on return. */
function quietly(emit: EmitChatEvent): EmitChatEvent {
  let gone = false;
  return async (event) => {
    if (gone) return;
    try {
      await emit(event);
    } catch {
      gone = true;
    }
  };
}
