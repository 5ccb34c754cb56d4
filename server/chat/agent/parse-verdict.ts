import { z } from 'zod';
import type { Verdict } from './stop-rules.ts';

/** Queries are cut to this many characters: a verifier that pastes a page asks nothing (R11). */
const MAX_QUERY_CHARACTERS = 500;
const MAX_MISSING_CHARACTERS = 2000;

const reply = z.object({
  sufficient: z.boolean(),
  missing: z.string().nullish(),
  queries: z.array(z.unknown()).nullish(),
});

/**
 * Reads the verifier's reply: one JSON object, alone, inside a code fence or after a think block (R11).
 * Anything else is a failed verification and so never sufficient (R32). Never throws.
 */
export function parseVerdict(text: string): Verdict {
  const body = unwrap(text);
  if (body === '') return { kind: 'failed', why: 'the reply was blank' };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { kind: 'failed', why: 'the reply was not JSON' };
  }
  const parsed = reply.safeParse(value);
  if (!parsed.success) return { kind: 'failed', why: 'the reply did not have the fields it must have' };
  const { sufficient, missing, queries } = parsed.data;
  return {
    kind: 'judged',
    sufficient,
    missing: (missing ?? '').trim().slice(0, MAX_MISSING_CHARACTERS),
    queries: (queries ?? [])
      .filter(isText)
      .map((query) => query.trim().slice(0, MAX_QUERY_CHARACTERS))
      .filter(Boolean),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A think block goes; of a reply with exactly one code fence only what is inside counts. */
function unwrap(text: string): string {
  const afterThinking = text.trim().replace(/^<think>[\s\S]*?<\/think>\s*/, '');
  const fences = [...afterThinking.matchAll(/```[a-zA-Z]*[ \t]*\n([\s\S]*?)\n?[ \t]*```/g)];
  return (fences.length === 1 ? (fences[0]?.[1] ?? '') : afterThinking).trim();
}
