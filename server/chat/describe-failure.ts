import type { StreamError } from '../../contract/chat.ts';
import { ModelError } from '../models/model-error.ts';
import { LeaseLostError } from './session-lock.ts';

/** The reason of the shutdown's signal: an answer that it ends is like one that a crash cut off (R81). */
export class ServerStoppingError extends Error {
  readonly code = 'interrupted';

  constructor() {
    super('The server was stopped while it answered; ask again.');
    this.name = 'ServerStoppingError';
  }
}

/** What a client may know of a failure (R125): words for people, no stack, no text from upstream. */
export function describeFailure(error: unknown): StreamError {
  if (error instanceof ModelError) return { code: error.code, message: error.message };
  if (error instanceof ServerStoppingError) return { code: error.code, message: error.message };
  if (error instanceof LeaseLostError) {
    return { code: 'lease_lost', message: 'The server lost its database while it answered; ask again.' };
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: 'timeout', message: 'The answer took too long and was ended.' };
  }
  if (error instanceof DOMException && error.name === 'AbortError') {
    return { code: 'stopped', message: 'The answer was stopped.' };
  }
  return { code: 'internal_error', message: 'The server could not answer this question; its log says why.' };
}
