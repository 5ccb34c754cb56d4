import { saysField } from './foreign-errors.ts';
import type { PostOutcome } from './model-connection.ts';

/** Fields some services do not know, the least common first: an unexplained refusal is tried in this order. */
export type OptionalField =
  | 'thinking'
  | 'enable_thinking'
  | 'stream_options'
  | 'response_format'
  | 'max_tokens'
  | 'dimensions'
  | 'encoding_format';

/** Fields a refusal may be about even where its text names none. */
const guessable: ReadonlySet<OptionalField> = new Set([
  'thinking',
  'enable_thinking',
  'stream_options',
  'response_format',
]);

/**
 * Learns which optional fields a service refuses (R18). A refusal that names fields is answered by the same request
 * without them; one that names none, by one request for each field that no successful request has held so far.
 */
export class FieldRefusals {
  readonly #refused = new Set<OptionalField>();
  readonly #accepted = new Set<OptionalField>();

  /** The fields left out from now on, for `doctor`. */
  list(): string[] {
    return [...this.#refused];
  }

  /**
   * Posts until an answer comes or nothing is left to leave out; then returns the first refusal, which speaks of the
   * whole request. `fields`: the optional ones of this request. `post` gets those to leave out. Throws what `post` throws.
   */
  async post(
    fields: readonly OptionalField[],
    post: (leftOut: ReadonlySet<OptionalField>) => Promise<PostOutcome>,
  ): Promise<PostOutcome> {
    const known = new Set(this.#refused);
    const guesses = fields.filter((field) => guessable.has(field) && !known.has(field) && !this.#accepted.has(field));
    let firstRefusal: PostOutcome | undefined;
    let leftOut: ReadonlySet<OptionalField> = known;
    for (;;) {
      const outcome = await post(leftOut);
      if (outcome.kind === 'answered') {
        this.#learn(fields, leftOut);
        return outcome;
      }
      firstRefusal ??= outcome;
      const named = fields.filter((field) => !leftOut.has(field) && saysField(outcome.text, field));
      for (const field of named) known.add(field);
      const guess = named.length > 0 ? undefined : nextGuess(guesses, known);
      if (named.length === 0 && (guess === undefined || outcome.error.code === 'context_length')) return firstRefusal;
      leftOut = guess === undefined ? new Set(known) : new Set([...known, guess]);
    }
  }

  #learn(fields: readonly OptionalField[], leftOut: ReadonlySet<OptionalField>): void {
    for (const field of leftOut) this.#refused.add(field);
    for (const field of fields) if (!leftOut.has(field)) this.#accepted.add(field);
  }
}

function nextGuess(guesses: OptionalField[], known: ReadonlySet<OptionalField>): OptionalField | undefined {
  for (let guess = guesses.shift(); guess !== undefined; guess = guesses.shift()) {
    if (!known.has(guess)) return guess;
  }
  return undefined;
}
