import type { ModelRequest } from '../models/chat-model.ts';

/** A request that says hello; a test gives what it cares about. */
export function buildModelRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    task: { kind: 'summarise', summary: '', rounds: [], maxTokens: 100 },
    messages: [{ role: 'user', content: '你好' }],
    maxTokens: 100,
    thinking: 'default',
    responseFormat: 'text',
    signal: new AbortController().signal,
    ...changes,
  };
}
