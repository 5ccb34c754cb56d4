import type { Embedder } from './chat-model.ts';
import { readVectors } from './embedding-wire.ts';
import { FieldRefusals, type OptionalField } from './field-refusals.ts';
import { ModelConnection, type ModelConnectionOptions, type PostOutcome } from './model-connection.ts';
import { ModelError } from './model-error.ts';
import { readText } from './response-body.ts';

export interface RemoteEmbedderOptions extends ModelConnectionOptions {
  /** Asked of the service and demanded of its answers; whatever the model gives unless set. */
  dimensions?: number | undefined;
  /** Texts for each request, 32 unless given; lowered by itself where the service refuses. */
  batchSize?: number | undefined;
}

type BatchOutcome = { kind: 'vectors'; vectors: number[][] } | Extract<PostOutcome, { kind: 'refused' }>;

/**
 * Embeds texts through any OpenAI-compatible service. A refused batch is halved until it passes, and the size that
 * passed is kept for later calls. Each batch has the retries and time limits of one call.
 */
export class RemoteEmbedder implements Embedder {
  readonly model: string;
  readonly #connection: ModelConnection;
  readonly #configuredDimensions: number | undefined;
  readonly #refusals = new FieldRefusals();
  #dimensions: number | undefined;
  #batchSize: number;

  constructor(options: RemoteEmbedderOptions) {
    this.model = options.model;
    this.#connection = new ModelConnection(options);
    this.#configuredDimensions = options.dimensions;
    this.#dimensions = options.dimensions;
    this.#batchSize = Math.max(1, Math.floor(options.batchSize ?? 32));
  }

  /** Of every vector; undefined before the first answer where not configured. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  /** The request fields this service has refused so far and no longer gets. */
  refusedFields(): string[] {
    return this.#refusals.list();
  }

  /**
   * Returns one vector for each text, in order, all of `dimensions` finite numbers, at most 4,000 (R127). Throws
   * `ModelError`: `context_length` or `bad_request` for a text that is refused alone, `bad_response` for wrong vectors.
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const vectors: number[][] = [];
    let size = this.#batchSize;
    while (vectors.length < texts.length) {
      const batch = texts.slice(vectors.length, vectors.length + size);
      const outcome = await this.#embedBatch(batch, signal);
      if (outcome.kind === 'vectors') {
        vectors.push(...outcome.vectors);
        continue;
      }
      if (batch.length === 1) throw refusedText(outcome.error, vectors.length, batch[0] ?? '');
      size = Math.floor(batch.length / 2);
    }
    // Kept only now: had one overlong text been the reason, the service would be fine with larger batches.
    this.#batchSize = Math.min(this.#batchSize, size);
    return vectors;
  }

  async #embedBatch(batch: readonly string[], signal: AbortSignal): Promise<BatchOutcome> {
    const { endpoint } = this.#connection;
    return this.#connection.call(signal, async (guard) => {
      const fields: OptionalField[] = ['encoding_format'];
      if (this.#configuredDimensions !== undefined) fields.push('dimensions');
      const outcome = await this.#refusals.post(fields, (leftOut) =>
        this.#connection.post('/embeddings', this.#body(batch, leftOut), guard),
      );
      if (outcome.kind === 'refused') return outcome;
      const json = await readText(outcome.response, { guard, endpoint });
      const vectors = readVectors({ json, count: batch.length, dimensions: this.#dimensions, endpoint });
      this.#dimensions ??= vectors[0]?.length;
      return { kind: 'vectors', vectors };
    });
  }

  #body(input: readonly string[], leftOut: ReadonlySet<OptionalField>): Record<string, unknown> {
    // Left to itself the package asks for base64, which many compatible services do not know.
    const body: Record<string, unknown> = { model: this.model, input, encoding_format: 'float' };
    if (this.#configuredDimensions !== undefined) body['dimensions'] = this.#configuredDimensions;
    for (const field of leftOut) delete body[field];
    return body;
  }
}

function refusedText(error: ModelError, index: number, text: string): ModelError {
  return new ModelError({
    code: error.code,
    message: `${error.message} Refused was text ${index + 1} of the call, ${text.length} characters long.`,
    retryable: false,
    status: error.status,
    cause: error.cause,
  });
}
