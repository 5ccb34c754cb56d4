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

/** Takes an event. May wait (a slow reader slows the model down); what it throws is ignored. */
export type EmitChatEvent = (event: ChatEvent) => void | Promise<void>;
