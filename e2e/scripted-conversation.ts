import { systemPrompt } from '../server/chat/agent/prompts.ts';
import { UniChatClient } from '../server/models/uni-chat-client.ts';
import {
  type RecordedRequest,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../server/testing/scripted-model-server.ts';
import { reply, type Step } from '../server/testing/scripted-steps.ts';

/** What a model says to each kind of request; a promise where a test says when. */
export interface ConversationScript {
  rewrite: Step | Promise<Step>;
  verdict: Step | Promise<Step>;
  answer: Step | Promise<Step>;
  summary: Step | Promise<Step>;
}

/** A verdict that asks for no further search. */
export const SUFFICIENT = reply('{"sufficient":true,"missing":"","queries":[]}');

/** Starts a scripted model server that looks into `script` at every request, and a client of it. */
export async function startScriptedConversation(
  script: ConversationScript,
): Promise<{ server: ScriptedModelServer; model: UniChatClient }> {
  const server = await startScriptedModelServer({ chat: (request) => stepFor(script, request) });
  const model = new UniChatClient({ baseUrl: server.baseUrl, apiKey: 'sk-0123456789', model: 'scripted' });
  return { server, model };
}

/** A step that comes when it is let go. */
export function heldStep(step: Step): { step: Promise<Step>; letGo(): void } {
  let letGo = () => {};
  const held = new Promise<Step>((resolve) => {
    letGo = () => resolve(step);
  });
  return { step: held, letGo };
}

function stepFor(script: ConversationScript, { body }: RecordedRequest): Step | Promise<Step> {
  if (body['stream'] === true) return script.answer;
  const said = JSON.stringify(body['messages']);
  const isFor = (kind: 'summarise' | 'rewrite') => said.includes(JSON.stringify(systemPrompt(kind)).slice(1, -1));
  if (isFor('summarise')) return script.summary;
  return isFor('rewrite') ? script.rewrite : script.verdict;
}
