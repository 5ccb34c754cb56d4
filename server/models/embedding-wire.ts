import { z } from 'zod';
import { ModelError } from './model-error.ts';
import { badResponse, type Endpoint, translateErrorObject } from './translate-error.ts';

/** The most a half-precision vector index can hold (pgvector, `halfvec`; R127). */
export const maxDimensions = 4_000;

/** The numbers themselves are checked by hand: zod takes seconds over a large batch. */
const answer = z.object({ data: z.array(z.object({ index: z.number().nullish(), embedding: z.array(z.unknown()) })) });

type Item = z.infer<typeof answer>['data'][number];

/**
 * Reads the vectors of an embeddings response, put in order by `index` (by position where there is none). Throws
 * `ModelError` unless they are `count`, of one length (`dimensions` where known), finite and at most 4,000 long.
 */
export function readVectors({
  json,
  count,
  dimensions,
  endpoint,
}: {
  json: string;
  count: number;
  dimensions: number | undefined;
  endpoint: Endpoint;
}): number[][] {
  const items = parseItems(json, endpoint);
  if (items.length !== count) throw badResponse(endpoint, `${items.length} vectors for ${count} texts`);
  const vectors: (number[] | undefined)[] = Array.from({ length: count });
  items.forEach((item, position) => {
    vectors[item.index ?? position] = readVector(item, endpoint);
  });
  const ordered = vectors.slice(0, count).filter((vector) => vector !== undefined);
  if (ordered.length !== count) throw badResponse(endpoint, 'vectors whose numbering has gaps');
  checkDimensions(ordered, dimensions, endpoint);
  return ordered;
}

function parseItems(json: string, endpoint: Endpoint): Item[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw badResponse(endpoint, /^\s*</.test(json) ? 'a web page' : 'something other than JSON', error);
  }
  if (typeof value === 'object' && value !== null && 'error' in value && value.error) {
    throw translateErrorObject(value.error, endpoint);
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success) throw badResponse(endpoint, 'JSON that holds no embeddings', parsed.error);
  return parsed.data.data;
}

function readVector({ embedding }: Item, endpoint: Endpoint): number[] {
  const vector = embedding.filter((value): value is number => Number.isFinite(value));
  if (vector.length === 0 || vector.length !== embedding.length) {
    throw badResponse(endpoint, 'a vector that is empty or holds something other than finite numbers');
  }
  return vector;
}

function checkDimensions(vectors: readonly number[][], known: number | undefined, endpoint: Endpoint): void {
  const wanted = known ?? vectors[0]?.length;
  for (const { length } of vectors) {
    if (length > maxDimensions) {
      throw new ModelError({
        code: 'bad_request',
        message: `The embedding model "${endpoint.model}" gives vectors of ${length} dimensions; at most ${maxDimensions} can be stored. Choose another model, or set fewer dimensions where the model offers that.`,
        retryable: false,
      });
    }
    if (length !== wanted) {
      throw new ModelError({
        code: 'bad_response',
        message: `The embedding model "${endpoint.model}" gave a vector of ${length} dimensions where ${wanted} were expected. Check the configured dimensions and whether the model behind this name was changed.`,
        retryable: false,
      });
    }
  }
}
