import type { AgentStatus, StreamError } from '../../contract/chat.ts';
import type { Usage } from './agent/usage.ts';

/** Tokens of one answer over all its model calls. */
export type AnswerUsage = Usage;

/**
 * What happens while a question is answered, in order: statuses and deltas, then exactly one `answer-end`
 * or one `answer-failed`, after the record was stored and the conversation freed (R66, R125).
 */
export type ChatEvent =
  | { kind: 'status'; status: AgentStatus }
  | { kind: 'answer-delta'; content: string; reasoningContent: string }
  | { kind: 'answer-end'; usage: AnswerUsage }
  | { kind: 'answer-failed'; error: StreamError };

/** Takes an event while an answer is made. May wait: a slow reader slows the model down. */
export type EmitChatEvent = (event: ChatEvent) => void | Promise<void>;

/**
 * Takes an event to a reader. `number` counts the events of one answer from 1, and tells where a reader may resume;
 * null for one that is not stored. May wait; what it throws means that the reader is gone.
 */
export type DeliverChatEvent = (event: ChatEvent, number: number | null) => void | Promise<void>;
