import type { ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './security.ts';

/** The reader closed the connection, or took nothing for too long. */
export class ReaderGoneError extends Error {
  readonly code = 'reader_gone';

  constructor(reason: string) {
    super(`The reader of the stream is gone: ${reason}.`);
    this.name = 'ReaderGoneError';
  }
}

/** Times of a stream in ms. */
export interface StreamTimings {
  /** Between two keep-alive comments. */
  keepAliveMs: number;
  /** A reader that takes nothing for so long counts as gone. */
  stallMs: number;
}

const TIMINGS: StreamTimings = { keepAliveMs: 15_000, stallMs: 60_000 };

/** What a frame has besides its data. `id`: where a reader may resume. */
export interface FrameLines {
  event?: string;
  id?: number;
}

/** Server-sent events on a raw response; the framework must have let go of it (`reply.hijack()`). */
export interface EventStream {
  /**
   * Sends one event and waits while the reader is behind. `data` becomes one line of JSON; without a name or an id
   * the frame has no such line. Throws ReaderGoneError; does nothing after `end`.
   */
  send(data: unknown, lines?: FrameLines): Promise<void>;
  /** Fires when the connection is closed, by the reader or after the end. */
  readonly gone: AbortSignal;
  /** Ends the stream and waits until it is out or the reader is gone. May be called twice; never throws. */
  end(): Promise<void>;
}

/**
 * Sends the headers and opens the stream. `keepAlive` sends comments, which the official front end can't read
 * (maxkb-v1-api.md section 3.4): only for readers that asked for named events.
 */
export function openEventStream(
  response: ServerResponse,
  options: { keepAlive: boolean; timings?: StreamTimings },
): EventStream {
  const timings = options.timings ?? TIMINGS;
  // A reader that left before this has had its `close` already.
  const state = { gone: response.destroyed, ended: false };
  const gone = new AbortController();
  if (state.gone) gone.abort();
  const keepAlive = options.keepAlive && !state.gone ? setInterval(ping, timings.keepAliveMs) : undefined;

  function ping(): void {
    // A reader that is behind has enough to read.
    if (!state.gone && !state.ended && !response.writableNeedDrain) response.write(': ping\n\n');
  }

  // Writing to a lost connection raises an error that nobody else handles; `close` follows it.
  response.on('error', () => undefined);
  response.on('close', () => {
    clearInterval(keepAlive);
    // On a POST the request's own close only says that its body was read.
    if (!response.writableEnded) state.gone = true;
    gone.abort();
  });
  writeHead(response);

  return {
    gone: gone.signal,
    async send(data, lines = {}) {
      if (state.ended) return;
      if (state.gone) throw new ReaderGoneError('the connection is closed');
      if (response.write(frame(data, lines))) return;
      await settled(response, { event: 'drain', stallMs: timings.stallMs });
      if (state.gone) throw new ReaderGoneError('the connection is closed');
    },
    async end() {
      if (state.ended) return;
      state.ended = true;
      clearInterval(keepAlive);
      if (state.gone) return;
      response.end();
      await settled(response, { event: 'finish', stallMs: timings.stallMs });
    },
  };
}

function writeHead(response: ServerResponse): void {
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream;charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // nginx would collect the whole answer before it passes anything on.
    'x-accel-buffering': 'no',
    // A socket kept alive after its stream would hold up a server that is stopping until it times out.
    connection: 'close',
  });
  response.flushHeaders();
}

/** `\n` only, and no line separator inside: the front end's reader takes frames apart by a regular expression. */
function frame(data: unknown, { event, id }: FrameLines): string {
  const json = JSON.stringify(data).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${json}\n\n`;
}

/** Waits for the event or the end of the connection, which a reader that stalls brings about. Never throws. */
function settled(response: ServerResponse, wait: { event: 'drain' | 'finish'; stallMs: number }): Promise<void> {
  return new Promise((resolve) => {
    const stall = setTimeout(() => response.destroy(), wait.stallMs);
    const done = (): void => {
      clearTimeout(stall);
      response.off(wait.event, done);
      response.off('close', done);
      resolve();
    };
    response.on(wait.event, done);
    response.on('close', done);
  });
}
