import { setTimeout } from 'node:timers/promises';
import type { Application } from '../applications/application.ts';
import type { ApplicationStore } from '../applications/application-store.ts';
import { countTokens } from '../models/tokens.ts';
import { joinSignals, within } from '../observability/joined-signal.ts';
import { storableText } from '../text/storable.ts';
import { type AnswerPorts, answerQuestion } from './answer-question.ts';
import { ChatError } from './chat-error.ts';
import type { AnswerUsage, ChatEvent, DeliverChatEvent } from './chat-events.ts';
import type { ChatStore, FinishedRecord } from './chat-store.ts';
import { describeFailure } from './describe-failure.ts';
import { EventJournal } from './event-journal.ts';
import type { EventBatch, EventStore } from './event-store.ts';
import type { SessionLease, SessionLock } from './session-lock.ts';

/** A question has at most this many estimated tokens (R38). */
export const MAX_QUESTION_TOKENS = 4000;

/** No answer takes longer; a model that hangs on must not hold a conversation for ever. */
const ANSWER_DEADLINE_MS = 10 * 60_000;

const STORE_PAUSES_MS = [200, 1000, 3000];
/** A statement that hangs in a dead connection is given up, and sent again on another. */
const STATEMENT_MS = 10_000;

export interface AskPorts extends AnswerPorts {
  store: ChatStore;
  applications: ApplicationStore;
  events: EventStore;
  lock: SessionLock;
  /** Ends every running answer when the server shuts down. */
  shutdown: AbortSignal;
  /** Answers and compactions under way; a shutdown waits for them to be stored. */
  running: Set<Promise<unknown>>;
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
  run(deliver: DeliverChatEvent): Promise<void>;
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
  if (!lease) throw refuseBusy();
  try {
    const excluded = question.reChat ? await ports.store.listUsedParagraphIds(chat.id, message) : [];
    const { fence } = lease;
    const recordId = await ports.store.insertRecord({
      chatId: chat.id,
      question: message,
      questionTokens: tokens,
      fence,
    });
    if (recordId === null) {
      // Deleted meanwhile, or taken by another server while this one was held up.
      await findOwnChat(ports, question);
      throw refuseBusy();
    }
    const asked = { chatId: chat.id, recordId, application, message, excludedParagraphIds: excluded, fence };
    return {
      chatId: chat.id,
      recordId,
      run: (deliver) => tracked(ports.running, runQuestion(ports, asked, { lease, deliver: quietly(deliver) })),
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** Somebody else holds the conversation. */
export function refuseBusy(): ChatError {
  return new ChatError('busy', 'This conversation is still answering; wait for it or stop it.');
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
  /** Of the lease under which it is answered. */
  fence: number | null;
}

/** Order matters: the answer is stored, then the conversation freed, then the end is told (R66). */
async function runQuestion(
  ports: AskPorts,
  asked: AskedQuestion,
  { lease, deliver }: { lease: SessionLease; deliver: DeliverChatEvent },
): Promise<void> {
  const { signal, dispose } = joinSignals([ports.shutdown, lease.signal], { timeoutMs: ANSWER_DEADLINE_MS });
  const journal = new EventJournal(ports.events, { recordId: asked.recordId, log: ports.log });
  let end: { event: ChatEvent; number: number };
  try {
    const emit = (event: ChatEvent) => deliver(event, journal.add(event));
    const { finished, usage } = await answerQuestion(ports, asked, { emit, signal });
    end = await store(ports, asked, { finished, usage, journal });
  } finally {
    dispose();
    await lease.release();
  }
  await deliver(end.event, end.number);
}

/** An answer that could not be stored is a failed one, whatever the reader saw of it. */
async function store(
  ports: AskPorts,
  { recordId, fence }: AskedQuestion,
  { finished, usage, journal }: { finished: FinishedRecord; usage: AnswerUsage; journal: EventJournal },
): Promise<{ event: ChatEvent; number: number }> {
  const { error } = finished.details;
  const event: ChatEvent = error ? { kind: 'answer-failed', error } : { kind: 'answer-end', usage };
  const { lastNumber: number, ...lastEvents } = await journal.close(event);
  try {
    if (!(await finishPatiently(ports, recordId, { finished, fence, lastEvents }))) {
      throw new Error('The record was not running any more, or its conversation is held by another server.');
    }
    return { event, number };
  } catch (problem) {
    ports.log.error({ err: problem, record: recordId }, 'an answer could not be stored');
    const failed: ChatEvent = { kind: 'answer-failed', error: error ?? describeFailure(problem) };
    const events = [...lastEvents.events.slice(0, -1), failed];
    const failing = ports.store.failRecord(recordId, { fence, lastEvents: { ...lastEvents, events } });
    await within(STATEMENT_MS, 'Storing a failure', failing).catch(() => {
      // The database is away; the record is found unfinished by whoever comes next.
    });
    return { event: failed, number };
  }
}

/** A database that was away for a moment must not cost an answer that took minutes. */
async function finishPatiently(
  ports: AskPorts,
  recordId: string,
  { finished, ...written }: { finished: FinishedRecord; fence: number | null; lastEvents: EventBatch },
): Promise<boolean> {
  const attempt = async () => {
    const finishing = ports.store.finishRecord(recordId, finished, written);
    if (await within(STATEMENT_MS, 'Storing an answer', finishing)) return true;
    // A statement whose confirmation was lost has done its work.
    return (await ports.store.findRecordState(recordId)) === finished.state;
  };
  for (const pauseMs of STORE_PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      ports.log.warn({ err: error, record: recordId, pauseMs }, 'an answer is stored again after a pause');
      await setTimeout(pauseMs);
    }
  }
  return attempt();
}

/** A shutdown waits for this work. */
export function tracked<T>(running: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  running.add(work);
  return work.finally(() => running.delete(work));
}

function checkMessage(message: string): number {
  if (/^[\p{Cf}\s]*$/u.test(message)) throw new ChatError('blank_question', 'The question is blank.');
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
function quietly(deliver: DeliverChatEvent): DeliverChatEvent {
  let gone = false;
  return async (event, number) => {
    if (gone) return;
    try {
      await deliver(event, number);
    } catch {
      gone = true;
    }
  };
}
