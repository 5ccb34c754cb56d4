import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyOptions } from './scripted-steps.ts';

export interface ReplyTarget {
  request: { body: Record<string, unknown> };
  response: ServerResponse;
  /** Fires when the server closes; ends every wait. */
  stopped: AbortSignal;
}

/** Connections the script broke itself: their clients did not abort. */
const brokenResponses = new WeakSet<ServerResponse>();

export function isBrokenByScript(response: ServerResponse): boolean {
  return brokenResponses.has(response);
}

function breakConnection(response: ServerResponse): void {
  brokenResponses.add(response);
  response.destroy();
}

/** Sends a scripted reply, as a stream where the request asks for one. Returns early when the client is gone. */
export async function sendReply(text: string, options: ReplyOptions, target: ReplyTarget): Promise<void> {
  if (!(await wait(options.delayMs ?? 0, target.stopped))) return;
  return target.request.body['stream'] === true ? sendStream(text, options, target) : sendWhole(text, options, target);
}

function sendWhole(text: string, options: ReplyOptions, { request, response }: ReplyTarget): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const { interruption, reasoning } = options;
  if (interruption?.kind === 'error') {
    response.end(JSON.stringify({ error: interruption.error }));
    return;
  }
  const body = JSON.stringify({
    id: 'scripted',
    object: 'chat.completion',
    model: request.body['model'],
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, ...(reasoning && { reasoning_content: reasoning }) },
        finish_reason: finishReasonOf(options),
      },
    ],
    usage: usageOf(text, options),
  });
  switch (interruption?.kind) {
    case undefined:
    case 'end':
      response.end(body);
      return;
    case 'hang':
      response.flushHeaders();
      return;
    case 'cut':
      response.write(body.slice(0, 20), () => breakConnection(response));
      return;
  }
}

async function sendStream(text: string, options: ReplyOptions, target: ReplyTarget): Promise<void> {
  const { request, response } = target;
  response.socket?.setNoDelay(true);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const send = (event: unknown): Promise<boolean> => sendBytes(`data: ${JSON.stringify(event)}\n\n`, options, response);
  const { interruption } = options;

  await send(chunk({ role: 'assistant', content: '' }));
  const deltas = deltasOf(text, options);
  for (const [i, delta] of deltas.entries()) {
    if (i >= (interruption?.afterChunks ?? Number.POSITIVE_INFINITY)) break;
    if (!(await wait(options.delayMs ?? 0, target.stopped))) return;
    if (options.keepAlive) await sendBytes(': keep-alive\n\n', options, response);
    if (!(await send(chunk(delta)))) return;
  }
  switch (interruption?.kind) {
    case 'hang':
      return;
    case 'cut':
      // A client's stream drops what it has not yet read when its connection breaks.
      await sleep(20);
      breakConnection(response);
      return;
    case 'error':
      await send({ error: interruption.error });
      response.end();
      return;
    case 'end':
      response.end();
      return;
    case undefined:
      break;
  }
  await send(chunk({}, finishReasonOf(options)));
  const wantsUsage = JSON.stringify(request.body['stream_options'] ?? {}).includes('"include_usage":true');
  if (wantsUsage && options.usage !== null) await send({ id: 'scripted', choices: [], usage: usageOf(text, options) });
  await sendBytes('data: [DONE]\n\n', options, response);
  response.end();
}

function chunk(delta: Record<string, unknown>, finishReason: string | null = null): unknown {
  return {
    id: 'scripted',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

function deltasOf(text: string, { reasoning = '', chunkSize = 4 }: ReplyOptions): Record<string, unknown>[] {
  return [
    ...pieces(reasoning, chunkSize).map((piece) => ({ reasoning_content: piece })),
    ...pieces(text, chunkSize).map((piece) => ({ content: piece })),
  ];
}

function pieces(text: string, size: number): string[] {
  const points = [...text];
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) =>
    points.slice(i * size, (i + 1) * size).join(''),
  );
}

function finishReasonOf({ finishReason }: ReplyOptions): string | null {
  return finishReason === undefined ? 'stop' : finishReason;
}

function usageOf(text: string, { usage }: ReplyOptions): unknown {
  return usage === undefined ? { prompt_tokens: 7, completion_tokens: [...text].length } : usage;
}

/** False once the client is gone. */
async function sendBytes(text: string, { packetBytes }: ReplyOptions, response: ServerResponse): Promise<boolean> {
  const bytes = Buffer.from(text);
  const size = packetBytes ?? bytes.length;
  for (let start = 0; start < bytes.length; start += size) {
    if (response.closed) return false;
    await write(bytes.subarray(start, start + size), response);
    // Another turn of the loop lets the packet leave before the next.
    if (packetBytes !== undefined) await sleep(0);
  }
  return !response.closed;
}

/** Waits while the client does not read, so that a slow reader can be seen. */
async function write(bytes: Buffer, response: ServerResponse): Promise<void> {
  if (response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/** False when the server is closing. */
async function wait(ms: number, stopped: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal: stopped }).catch(() => undefined);
  return !stopped.aborted;
}
