import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { CallGuard } from './call-guard.ts';
import { badResponse, type Endpoint, translateBodyError } from './translate-error.ts';

/** 64 MiB: a batch of 32 vectors of 4,000 numbers is under 3 MiB. */
const maxBodyBytes = 64 * 1024 * 1024;
/** In characters; one event holds one delta. */
const maxEventLength = 4 * 1024 * 1024;
/** How long the end of the body is awaited after `[DONE]`, in ms: with it the connection can be used again. */
const drainMs = 50;

export interface ReadContext {
  guard: CallGuard;
  endpoint: Endpoint;
}

/** Reads a whole body as UTF-8 under the idle limit. Throws `ModelError`; on every path the body is closed. */
export async function readText(response: Response, context: ReadContext): Promise<string> {
  let text = '';
  for await (const piece of readPieces(response, context)) text += piece;
  return text;
}

/**
 * Yields the server-sent events of a body, without the closing `[DONE]`, after which nothing is read. Reads on only as
 * fast as events are taken. Keep-alive comments count against the idle limit, not as events. An end without `[DONE]`
 * simply ends. Throws `ModelError`; on every path, also when the consumer stops early, the body is closed.
 */
export async function* readEvents(response: Response, context: ReadContext): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = [];
  let broken: Error | undefined;
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') broken = error;
    },
    maxBufferSize: maxEventLength,
  });
  for await (const piece of readPieces(response, context, () => events.some(isDone))) {
    parser.feed(piece);
    if (broken) throw badResponse(context.endpoint, 'an endless line', broken);
    yield* takeUntilDone(events);
  }
  // Some services end the last event without the blank line.
  parser.feed('\n\n');
  yield* takeUntilDone(events);
}

function* takeUntilDone(events: EventSourceMessage[]): Generator<EventSourceMessage> {
  for (let event = events[0]; event !== undefined && !isDone(event); event = events[0]) {
    events.shift();
    yield event;
  }
}

function isDone(event: EventSourceMessage): boolean {
  return event.data.trim() === '[DONE]';
}

async function* readPieces(
  response: Response,
  { guard, endpoint }: ReadContext,
  isEnough: () => boolean = () => false,
): AsyncGenerator<string> {
  if (response.body === null) return;
  // The body of a fetch response yields bytes; the DOM type says any.
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let size = 0;
  try {
    while (!isEnough()) {
      const { done, value } = await guard.watch('idle', () => reader.read());
      if (done) break;
      size += value.byteLength;
      if (size > maxBodyBytes) throw badResponse(endpoint, `more than ${maxBodyBytes} bytes`);
      yield decoder.decode(value, { stream: true });
    }
    if (isEnough()) await drain(reader);
    else yield decoder.decode();
  } catch (error) {
    throw guard.failure ?? translateBodyError(error, endpoint);
  } finally {
    // Closes the connection unless the body was read to its end; a broken one has nothing left to report.
    reader.cancel().catch(() => undefined);
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, drainMs);
  });
  // The answer is complete: an error behind it changes nothing.
  await Promise.race([reader.read().catch(() => undefined), patience]);
  clearTimeout(timer);
}
