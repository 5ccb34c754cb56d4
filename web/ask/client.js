import { currentLanguage, texts } from './texts.js';
import { createParser } from './vendor/eventsource-parser.js';

/**
 * A stream without a byte for so long, or a request without an answer, is cut, whatever the browser thinks. In ms. The
 * server sends a comment into a stream every 15 s.
 */
const STALL_MS = 45_000;

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

/** The error of a stream that broke off. */
export function connectionLost() {
  return new RequestError('connection_lost', texts().errors.connection_lost);
}

/**
 * The server's API with a token. Every method rejects with RequestError; `ask` and `follow` take a `signal` that ends
 * them, and reject with what their callbacks throw too.
 */
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

  /** What the conversation remembers of its older rounds. */
  context(applicationId, chatId) {
    return this.#get(`/api/application/${applicationId}/chat/${chatId}/context`);
  }

  /** Stops what the conversation is busy with and waits until it is free. `stopped`: there was something to stop. */
  async stop(applicationId, chatId) {
    return readEnvelope(await this.#fetch(`/api/application/${applicationId}/chat/${chatId}/stop`, { method: 'POST' }));
  }

  /**
   * Asks and calls `onEvent({id, name, data})` for each frame in order; `name` is `message` for frames of the answer,
   * `id` is undefined where nobody may resume. Resolves when the stream has ended, whether or not the answer has.
   */
  async ask(chatId, message, { signal, onEvent }) {
    const response = await this.#fetch(`/api/application/chat_message/${chatId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-status': 'on' },
      body: JSON.stringify({ message, stream: true }),
      signal,
    });
    await readEvents(response, { onOpen: () => undefined, onEvent });
  }

  /** As `ask`, for an answer that is being written or was lately: all after the event `after`. `onOpen()`: it is there. */
  async follow({ applicationId, chatId, recordId, after }, { signal, onOpen, onEvent }) {
    const address = `/api/application/${applicationId}/chat/${chatId}/chat_record/${recordId}/events`;
    const response = await this.#fetch(address, { headers: { 'last-event-id': after }, signal });
    await readEvents(response, { onOpen, onEvent });
  }

  async #get(address) {
    return readEnvelope(await this.#fetch(address));
  }

  async #fetch(address, { signal, ...init } = {}) {
    const headers = { ...init.headers, 'accept-language': currentLanguage(), authorization: this.token };
    const stall = new AbortController();
    const timer = setTimeout(() => stall.abort(), STALL_MS);
    const ends = AbortSignal.any([stall.signal, ...(signal ? [signal] : [])]);
    try {
      return await fetch(address, { ...init, headers, cache: 'no-store', signal: ends });
    } catch {
      throw new RequestError('network', texts().errors.network);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function readEvents(response, { onOpen, onEvent }) {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await readEnvelope(response);
    throw new RequestError('bad_answer', texts().errors.bad_answer);
  }
  onOpen();
  const parser = createParser({
    onEvent: ({ id, event, data }) => onEvent({ id, name: event ?? 'message', data: parseFrame(data) }),
  });
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await readPiece(reader);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Of a stream that broke there is nothing left to cancel.
    reader.cancel().catch(() => undefined);
  }
}

async function readPiece(reader) {
  let timer;
  const stalled = new Promise((_resolve, reject) => {
    timer = setTimeout(reject, STALL_MS);
  });
  try {
    return await Promise.race([reader.read(), stalled]);
  } catch {
    throw connectionLost();
  } finally {
    clearTimeout(timer);
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
