import { currentLanguage, texts } from './texts.js';
import { createParser } from './vendor/eventsource-parser.js';

/**
 * What went wrong with a request. `kind`: `token`, `network`, `connection_lost` (in the midst of an
 * answer), `refused` (the server said why), `bad_answer` or `unfinished`.
 */
export class RequestError extends Error {
  constructor(kind, message, code = 0) {
    super(message);
    this.name = 'RequestError';
    this.kind = kind;
    this.code = code;
  }
}

/** The server's API with a token. Every method rejects with RequestError, and `ask` with what `onEvent` throws. */
export class Client {
  constructor(token) {
    this.token = token;
  }

  profile() {
    return this.#get('/api/profile');
  }

  applications() {
    return this.#get('/api/application');
  }

  openChat(applicationId) {
    return this.#get(`/api/application/${applicationId}/chat/open`);
  }

  record(applicationId, chatId, recordId) {
    return this.#get(`/api/application/${applicationId}/chat/${chatId}/chat_record/${recordId}`);
  }

  /** The newest records, oldest first, and how many there are in all. */
  async lastRecords(applicationId, chatId, size) {
    const address = `/api/application/${applicationId}/chat/${chatId}/chat_record/1/${size}?order_asc=true`;
    const { total, records } = await this.#get(address);
    return { total, records: records.reverse() };
  }

  /**
   * Asks and calls `onEvent({name, data})` for each frame in order; `name` is `message` for frames of the answer.
   * Resolves when the stream has ended, whether or not the answer has.
   */
  async ask(chatId, message, onEvent) {
    const response = await this.#fetch(`/api/application/chat_message/${chatId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-status': 'on' },
      body: JSON.stringify({ message, stream: true }),
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await readEnvelope(response);
      throw new RequestError('bad_answer', texts().errors.bad_answer);
    }
    const parser = createParser({
      onEvent: ({ event, data }) => onEvent({ name: event ?? 'message', data: parseFrame(data) }),
    });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await readPiece(reader);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  async #get(address) {
    return readEnvelope(await this.#fetch(address));
  }

  async #fetch(address, init = {}) {
    const headers = { ...init.headers, 'accept-language': currentLanguage(), authorization: this.token };
    try {
      return await fetch(address, { ...init, headers, cache: 'no-store' });
    } catch {
      throw new RequestError('network', texts().errors.network);
    }
  }
}

async function readPiece(reader) {
  try {
    return await reader.read();
  } catch {
    throw new RequestError('connection_lost', texts().errors.connection_lost);
  }
}

function parseFrame(data) {
  try {
    return JSON.parse(data);
  } catch {
    throw new RequestError('bad_answer', texts().errors.bad_answer);
  }
}

async function readEnvelope(response) {
  let envelope;
  try {
    envelope = await response.json();
  } catch {
    throw new RequestError('bad_answer', texts().errors.bad_answer);
  }
  if (envelope.code === 200) return envelope.data;
  if (response.status === 401) throw new RequestError('token', texts().errors.token, envelope.code);
  throw new RequestError('refused', envelope.message, envelope.code);
}
