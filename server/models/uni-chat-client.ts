import type { CallGuard } from './call-guard.ts';
import type { ChatModel, ModelReply, ModelRequest, ReplyDelta } from './chat-model.ts';
import { chatBody, optionalFields, parseCompletion } from './chat-wire.ts';
import { FieldRefusals } from './field-refusals.ts';
import { ModelConnection, type ModelConnectionOptions } from './model-connection.ts';
import { ModelError } from './model-error.ts';
import { ReplyCollector } from './reply-collector.ts';
import { type ReadContext, readEvents, readText } from './response-body.ts';
import { defaultThinkTags, type ThinkTags } from './think-splitter.ts';
import { defaultThinkingStyle, type ThinkingStyle } from './thinking-style.ts';
import { badResponse, translateErrorObject } from './translate-error.ts';

export interface UniChatClientOptions extends ModelConnectionOptions {
  /** For people; the model's name unless given. */
  name?: string | undefined;
  /** Chosen by address and model name unless given. */
  thinkingStyle?: ThinkingStyle | undefined;
  thinkTags?: ThinkTags | undefined;
}

type OnDelta = (delta: ReplyDelta) => void | Promise<void>;

/**
 * The chat model behind any OpenAI-compatible service. Retries, time limits, field refusals and the split of reasoning
 * from answer are all here, so that `generate` and `streamOpenAi` behave alike (R23). Throws only `ModelError`.
 */
export class UniChatClient implements ChatModel {
  readonly name: string;
  readonly offline = false;
  readonly #connection: ModelConnection;
  readonly #model: string;
  readonly #thinkingStyle: ThinkingStyle;
  readonly #thinkTags: ThinkTags;
  readonly #refusals = new FieldRefusals();

  constructor(options: UniChatClientOptions) {
    this.name = options.name ?? options.model;
    this.#connection = new ModelConnection(options);
    this.#model = options.model;
    this.#thinkingStyle = options.thinkingStyle ?? defaultThinkingStyle(options.baseUrl, options.model);
    this.#thinkTags = options.thinkTags ?? defaultThinkTags;
  }

  /** The request fields this service has refused so far and no longer gets (R18). */
  refusedFields(): string[] {
    return this.#refusals.list();
  }

  /** Asks for a whole reply in one response. Throws `ModelError`. */
  async generate(request: ModelRequest): Promise<ModelReply> {
    return this.#connection.call(request.signal, async (guard) => {
      const response = await this.#post(request, guard, false);
      const json = await readText(response, this.#readContext(guard));
      const collector = new ReplyCollector(this.#thinkTags);
      collector.add(parseCompletion(json, 'whole', this.#connection.endpoint));
      collector.flush();
      return collector.reply();
    });
  }

  /**
   * Streams a reply. `onDelta` is awaited, and nothing is read meanwhile; what it throws ends the call and is thrown on
   * unchanged. Once it was called nothing is retried. An end without a finish reason gives `unfinished` (R125).
   * Throws `ModelError`.
   */
  async streamOpenAi(request: ModelRequest, onDelta: OnDelta): Promise<ModelReply> {
    let isPassedOn = false;
    const passOn = async (delta: ReplyDelta, guard: CallGuard): Promise<void> => {
      if (delta.content === '' && delta.reasoningContent === '') return;
      guard.check();
      isPassedOn = true;
      await guard.race(Promise.resolve(onDelta(delta)));
    };
    return this.#connection.call(
      request.signal,
      async (guard) => {
        const response = await this.#post(request, guard, true);
        const collector = new ReplyCollector(this.#thinkTags);
        for await (const delta of this.#readDeltas(response, guard, collector)) await passOn(delta, guard);
        await passOn(collector.flush(), guard);
        return collector.reply();
      },
      () => !isPassedOn,
    );
  }

  async *#readDeltas(response: Response, guard: CallGuard, collector: ReplyCollector): AsyncGenerator<ReplyDelta> {
    const { endpoint } = this.#connection;
    if (/\bjson\b/i.test(response.headers.get('content-type') ?? '')) {
      // A gateway that does not stream answers in one piece.
      const json = await readText(response, this.#readContext(guard));
      yield collector.add(parseCompletion(json, 'whole', endpoint));
      return;
    }
    let hasEvents = false;
    try {
      for await (const event of readEvents(response, this.#readContext(guard))) {
        if (event.event === 'error') throw translateErrorObject(event.data, endpoint);
        hasEvents = true;
        yield collector.add(parseCompletion(event.data, 'chunk', endpoint));
      }
    } catch (error) {
      if (!isMereEnd(error, collector)) throw error;
    }
    if (!hasEvents) throw badResponse(endpoint, 'something other than an event stream');
  }

  async #post(request: ModelRequest, guard: CallGuard, stream: boolean): Promise<Response> {
    const options = { model: this.#model, thinkingStyle: this.#thinkingStyle, stream };
    const outcome = await this.#refusals.post(optionalFields(request, options), (leftOut) =>
      this.#connection.post('/chat/completions', chatBody(request, options, leftOut), guard),
    );
    if (outcome.kind === 'refused') throw outcome.error;
    return outcome.response;
  }

  #readContext(guard: CallGuard): ReadContext {
    return { guard, endpoint: this.#connection.endpoint };
  }
}

/** After the finish reason only token counts can come: a service that breaks or hangs there has answered in full. */
function isMereEnd(error: unknown, collector: ReplyCollector): boolean {
  if (!collector.isFinished || !(error instanceof ModelError)) return false;
  return error.code === 'stream_cut' || error.code === 'timeout';
}
