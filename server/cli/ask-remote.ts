import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { agentStatus, answerChunk, type RecordDetail, recordDetail, streamError } from '../../contract/chat.ts';
import { folderLine } from '../../contract/folder.ts';
import type { ChatEvent } from '../chat/chat-events.ts';
import type { FolderProgress } from '../knowledge/index-folder.ts';
import type { IndexedFolder } from '../main.ts';
import { joinSignals } from '../observability/joined-signal.ts';
import type { AskBackend } from './ask-backend.ts';
import { answerLanguageOf } from './texts.ts';

/** Everything but a stream is a look into the database; a server that takes longer hangs. */
const GET_TIMEOUT_MS = 30_000;

/** Nobody waits longer after Ctrl-C. */
const STOP_TIMEOUT_MS = 3000;

/** The server's own words on why not, with the code of its envelope. */
class ServerRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ServerRefusal';
    this.code = code;
  }
}

const envelope = z.object({ code: z.number(), message: z.string(), data: z.unknown() });
const profile = z.object({ offline: z.object({ chat: z.boolean() }) });
const applications = z.array(z.object({ id: z.string() }));

/** Asks the server that holds the data folder, by the same paths as any other client. */
export class RemoteBackend implements AskBackend {
  readonly offline: boolean;
  readonly #url: string;
  readonly #token: string;

  private constructor(address: { url: string; token: string }, offline: boolean) {
    this.#url = address.url;
    this.#token = address.token;
    this.offline = offline;
  }

  /** Asks the server what it is. Throws where it does not answer within 30 s, and when `signal` fires. */
  static async open(address: { url: string; token: string }, signal: AbortSignal): Promise<RemoteBackend> {
    const unknown = new RemoteBackend(address, false);
    const { offline } = profile.parse(await unknown.#get('/api/profile', signal));
    return new RemoteBackend(address, offline.chat);
  }

  async indexFolder(
    folder: string,
    onProgress: (progress: FolderProgress) => void,
    signal: AbortSignal,
  ): Promise<IndexedFolder> {
    const response = await this.#send('/api/dataset/folder', { folder }, signal);
    for await (const line of linesOf(response)) {
      const parsed = folderLine.parse(JSON.parse(line));
      switch (parsed.kind) {
        case 'progress':
          onProgress(parsed.progress);
          break;
        case 'indexed':
          return parsed.result;
        case 'failed':
          throw new Error(parsed.message);
      }
    }
    throw new Error('The server broke off while it indexed the folder.');
  }

  async defaultApplicationId(signal: AbortSignal): Promise<string> {
    const [first] = applications.parse(await this.#get('/api/application', signal));
    if (!first) throw new Error('The server has no application.');
    return first.id;
  }

  async openChat(applicationId: string, signal: AbortSignal): Promise<string> {
    return z.string().parse(await this.#get(`/api/application/${applicationId}/chat/open`, signal));
  }

  async hasChat(
    { applicationId, chatId }: { applicationId: string; chatId: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await this.#get(`/api/application/${applicationId}/chat/${chatId}/context`, signal);
      return true;
    } catch (error) {
      if (error instanceof ServerRefusal && error.code === 404) return false;
      throw error;
    }
  }

  /** An interrupted user wants no answer: the server is told to stop it, which it would not do by itself. */
  async ask(
    question: { applicationId: string; chatId: string; question: string },
    onEvent: (event: ChatEvent) => void,
    signal: AbortSignal,
  ): Promise<RecordDetail> {
    let isAnswering = false;
    const watch = (event: ChatEvent) => {
      isAnswering = event.kind === 'status' || event.kind === 'answer-delta';
      onEvent(event);
    };
    try {
      return await this.#ask(question, watch, signal);
    } catch (error) {
      // What the conversation is busy with before or after may be somebody else's.
      if (signal.aborted && isAnswering) await this.#stop(question);
      throw error;
    }
  }

  async close(): Promise<void> {}

  async #ask(
    { applicationId, chatId, question }: { applicationId: string; chatId: string; question: string },
    onEvent: (event: ChatEvent) => void,
    signal: AbortSignal,
  ): Promise<RecordDetail> {
    const response = await this.#send(`/api/application/chat_message/${chatId}`, { message: question }, signal, {
      'x-agent-status': 'on',
      'accept-language': answerLanguageOf(question) === 'zh' ? 'zh-CN' : 'en-US',
    });
    const recordId = await this.#follow(response, onEvent);
    return recordDetail.parse(
      await this.#get(`/api/application/${applicationId}/chat/${chatId}/chat_record/${recordId}`, signal),
    );
  }

  /** A server that can't be told any more has nothing to stop. */
  async #stop({ applicationId, chatId }: { applicationId: string; chatId: string }): Promise<void> {
    await fetch(`${this.#url}/api/application/${applicationId}/chat/${chatId}/stop`, {
      method: 'POST',
      headers: { authorization: this.#token },
      signal: AbortSignal.timeout(STOP_TIMEOUT_MS),
    }).catch(() => undefined);
  }

  /** Turns frames back into events. Returns the record's id. */
  async #follow(response: Response, onEvent: (event: ChatEvent) => void): Promise<string> {
    if (!response.body) throw new Error('The server sent an empty answer.');
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    let failed = false;
    for await (const message of messages as unknown as AsyncIterable<EventSourceMessage>) {
      if (message.event === 'agent_status') {
        onEvent({ kind: 'status', status: agentStatus.parse(JSON.parse(message.data)) });
      } else if (message.event === 'error') {
        failed = true;
        onEvent({ kind: 'answer-failed', error: streamError.parse(JSON.parse(message.data)) });
      } else {
        const chunk = answerChunk.parse(JSON.parse(message.data));
        if (chunk.is_end) {
          const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = chunk.usage;
          if (!failed) onEvent({ kind: 'answer-end', usage: { promptTokens, completionTokens } });
          return chunk.chat_record_id;
        }
        if (chunk.content !== '') onEvent({ kind: 'answer-delta', content: chunk.content, reasoningContent: '' });
      }
    }
    throw new Error('The server broke off before the answer was complete.');
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const limited = joinSignals([signal], { timeoutMs: GET_TIMEOUT_MS });
    const response = await fetch(`${this.#url}${path}`, {
      headers: { authorization: this.#token },
      signal: limited.signal,
    }).finally(limited.dispose);
    return openEnvelope(await response.json());
  }

  /**
   * A stream, or the server's refusal as an error. It has no limit of its own: the server sends something every
   * 15 s, and fetch gives up after 300 s of silence.
   */
  async #send(
    path: string,
    body: unknown,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      headers: { authorization: this.#token, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    });
    if (response.headers.get('content-type')?.startsWith('application/json')) openEnvelope(await response.json());
    return response;
  }
}

function openEnvelope(body: unknown): unknown {
  const { code, message, data } = envelope.parse(body);
  if (code !== 200) throw new ServerRefusal(code, message);
  return data;
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter(Boolean);
  }
  if (rest !== '') yield rest;
}
