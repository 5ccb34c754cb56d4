/** Why a question was refused or a conversation not shown; the routes know how each is said over HTTP. */
export type ChatErrorCode =
  | 'blank_question'
  | 'question_too_long'
  | 'chat_not_found'
  | 'record_not_found'
  | 'events_gone'
  | 'compaction_stopped'
  | 'application_not_found'
  | 'busy';

/** An expected refusal, raised before any header is sent. `values`: what its message in another language needs. */
export class ChatError extends Error {
  readonly code: ChatErrorCode;
  readonly values: readonly (string | number)[];

  constructor(code: ChatErrorCode, message: string, values: readonly (string | number)[] = []) {
    super(message);
    this.name = 'ChatError';
    this.code = code;
    this.values = values;
  }
}
