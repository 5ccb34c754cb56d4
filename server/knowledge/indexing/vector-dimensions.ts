/** pgvector indexes `vector` up to 2,000 dimensions and `halfvec` up to 4,000 (0.8; R127). */
const MAX_VECTOR_DIMENSIONS = 2_000;
const MAX_HALFVEC_DIMENSIONS = 4_000;

/** A model gives vectors longer than can be searched. */
export class TooManyDimensionsError extends Error {
  readonly code = 'too_many_dimensions';
  readonly dimensions: number;

  constructor(dimensions: number) {
    super(
      `The embedding model gives ${dimensions} dimensions; at most ${MAX_HALFVEC_DIMENSIONS} can be searched. Configure a smaller number of dimensions.`,
    );
    this.name = 'TooManyDimensionsError';
    this.dimensions = dimensions;
  }
}

/** The column type that vectors of a length are searched as: `vector(1024)`, `halfvec(2560)`. Throws TooManyDimensionsError. */
export function vectorType(dimensions: number): { type: string; operators: string } {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_HALFVEC_DIMENSIONS) {
    throw new TooManyDimensionsError(dimensions);
  }
  const type = dimensions <= MAX_VECTOR_DIMENSIONS ? 'vector' : 'halfvec';
  return { type: `${type}(${dimensions})`, operators: `${type}_cosine_ops` };
}

/** A vector as pgvector reads it. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.join()}]`;
}
