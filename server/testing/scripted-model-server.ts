import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashedEmbedding } from './hashed-embedding.ts';
import { isBrokenByScript, sendReply } from './scripted-reply.ts';
import { reply, type Step, status } from './scripted-steps.ts';

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  rawBody: string;
  /** Parsed; an empty object where the body is no JSON object. */
  body: Record<string, unknown>;
  /** All times in ms since the epoch. */
  startedAt: number;
  /** When the connection or the response ended; null while open. */
  endedAt: number | null;
  /** The client went away before the response was complete. */
  aborted: boolean;
}

/** One step for each call, or a function of the request. */
export type Script = readonly Step[] | ((request: RecordedRequest) => Step | Promise<Step>);

export interface ScriptedEmbeddings {
  /** 64 unless given; a request that asks for `dimensions` gets those. */
  dimensions?: number;
  /** Larger batches are refused with 400. */
  maxBatch?: number;
  /** Longer texts are refused with 400, in characters. */
  maxCharacters?: number;
  /** Asked first for each call; undefined lets it pass to the vectors. */
  step?: (request: RecordedRequest) => Step | undefined;
  /** Changes the body of an answer before it is sent. */
  change?: (body: EmbeddingsBody) => unknown;
}

export interface EmbeddingsBody {
  object: 'list';
  model: unknown;
  data: { object: 'embedding'; index: number; embedding: number[] }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

export interface ScriptedModelServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** In order of arrival. */
  readonly requests: RecordedRequest[];
  /** Sockets accepted so far: fewer than requests where connections were used again. */
  readonly connectionCount: number;
  /** Ends open responses too. */
  close(): Promise<void>;
}

interface Handling {
  request: RecordedRequest;
  response: ServerResponse;
  stopped: AbortSignal;
}

/**
 * Starts an HTTP server on 127.0.0.1 that speaks the OpenAI protocol by a script: `chat` for chat completions
 * ("OK" for ever unless given), `embeddings` for hashed vectors. A list that has run out answers 501.
 */
export async function startScriptedModelServer(
  options: { chat?: Script; embeddings?: ScriptedEmbeddings } = {},
): Promise<ScriptedModelServer> {
  const requests: RecordedRequest[] = [];
  const stop = new AbortController();
  const nextStep = createStepper(options.chat ?? (() => reply('OK')));
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  let connectionCount = 0;
  server.on('connection', () => {
    connectionCount += 1;
  });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response, stop.signal);
    requests.push(request);
    const handling = { request, response, stopped: stop.signal };
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/chat/completions':
        return perform(await nextStep(request), handling);
      case 'POST /v1/embeddings':
        return embed(options.embeddings ?? {}, handling);
      case 'GET /v1/models':
        return sendJson(response, { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'tests' }] });
      default:
        return perform(status(404), handling);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    async close() {
      stop.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function record(
  incoming: IncomingMessage,
  response: ServerResponse,
  stopped: AbortSignal,
): Promise<RecordedRequest> {
  const request: RecordedRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawBody: '',
    body: {},
    startedAt: Date.now(),
    endedAt: null,
    aborted: false,
  };
  response.on('close', () => {
    request.endedAt = Date.now();
    request.aborted = !response.writableFinished && !isBrokenByScript(response) && !stopped.aborted;
  });
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  request.rawBody = Buffer.concat(pieces).toString('utf8');
  const body: unknown = request.rawBody === '' ? {} : JSON.parse(request.rawBody);
  // Every body of the protocol is an object; a test reads its fields.
  if (typeof body === 'object' && body !== null) request.body = body as Record<string, unknown>;
  return request;
}

/** Turns a script into a function; in a list, refusals of fields hold from their place on and take no turn. */
function createStepper(script: Script): (request: RecordedRequest) => Promise<Step> {
  if (typeof script === 'function') return async (request) => script(request);
  const steps = [...script];
  const refusals: Step[] = [];
  return async (request) => {
    while (steps[0]?.kind === 'refuse-field') refusals.push(...steps.splice(0, 1));
    const refusal = refusals.find((step) => step.kind === 'refuse-field' && step.field in request.body);
    return refusal ?? steps.shift() ?? status(501, { body: '{"error":{"message":"the script has no step left"}}' });
  };
}

async function perform(step: Step, handling: Handling): Promise<void> {
  const { request, response } = handling;
  switch (step.kind) {
    case 'reply':
      return sendReply(step.text, step.options, handling);
    case 'status':
      response.writeHead(step.status, step.headers).end(step.body);
      return;
    case 'raw':
      response.writeHead(200, { 'content-type': step.contentType }).end(step.body);
      return;
    case 'hang':
      return;
    case 'refuse-field': {
      if (!(step.field in request.body)) return perform(step.otherwise ?? reply('OK'), handling);
      const body = step.body ?? JSON.stringify({ error: { message: `Unrecognized request argument: ${step.field}` } });
      return perform(status(400, { body }), handling);
    }
  }
}

async function embed(options: ScriptedEmbeddings, handling: Handling): Promise<void> {
  const { request, response } = handling;
  const scripted = options.step?.(request);
  if (scripted !== undefined) return perform(scripted, handling);
  const input = [request.body['input']].flat().map(String);
  const refusal = refuseInput(input, options);
  if (refusal !== undefined) return perform(refusal, handling);
  const asked = request.body['dimensions'];
  const dimensions = typeof asked === 'number' ? asked : (options.dimensions ?? 64);
  const promptTokens = input.reduce((sum, text) => sum + text.length, 0);
  const body: EmbeddingsBody = {
    object: 'list',
    model: request.body['model'],
    data: input.map((text, index) => ({ object: 'embedding', index, embedding: hashedEmbedding(text, dimensions) })),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
  sendJson(response, options.change?.(body) ?? body);
}

function refuseInput(input: readonly string[], { maxBatch, maxCharacters }: ScriptedEmbeddings): Step | undefined {
  const refuse = (message: string): Step => status(400, { body: JSON.stringify({ error: { message } }) });
  if (maxBatch !== undefined && input.length > maxBatch) {
    return refuse(`batch size is invalid, it should not be larger than ${maxBatch}`);
  }
  if (maxCharacters !== undefined && input.some((text) => text.length > maxCharacters)) {
    return refuse("This model's maximum context length is exceeded");
  }
  return undefined;
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
