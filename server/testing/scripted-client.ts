import { afterEach } from 'vitest';
import type { ModelReply, ModelRequest, ReplyDelta } from '../models/chat-model.ts';
import { ModelError } from '../models/model-error.ts';
import { UniChatClient, type UniChatClientOptions } from '../models/uni-chat-client.ts';
import { buildModelRequest } from './model-request.ts';
import { type Script, type ScriptedModelServer, startScriptedModelServer } from './scripted-model-server.ts';

export const testApiKey = 'sk-secret-0123456789';

const servers: ScriptedModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A scripted server and a client of it; the server is closed after the test. */
export async function startScriptedClient(chat: Script, options: Partial<UniChatClientOptions> = {}) {
  const server = await startScriptedModelServer({ chat });
  servers.push(server);
  const client = new UniChatClient({
    baseUrl: server.baseUrl,
    apiKey: testApiKey,
    model: 'scripted',
    retryPolicy: { baseDelayMs: 10 },
    ...options,
  });
  return { server, client };
}

export async function streamReply(client: UniChatClient, changes: Partial<ModelRequest> = {}) {
  const deltas: ReplyDelta[] = [];
  const reply = await client.streamOpenAi(buildModelRequest(changes), (delta) => {
    deltas.push(delta);
  });
  return { reply, deltas };
}

type Ask = (client: UniChatClient, changes?: Partial<ModelRequest>) => Promise<ModelReply>;

/** Both ways of asking, for behaviour they must share (R23). */
export const waysOfAsking: readonly (readonly ['generate' | 'streamOpenAi', Ask])[] = [
  ['generate', (client, changes) => client.generate(buildModelRequest(changes))],
  ['streamOpenAi', async (client, changes) => (await streamReply(client, changes)).reply],
];

/** The ModelError `work` rejects with; anything else fails the test. */
export async function modelErrorOf(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

/** Waits for a condition, looking every 5 ms. */
export async function until(condition: () => boolean, withinMs: number): Promise<void> {
  const startedAt = performance.now();
  while (!condition()) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
