import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { storableText } from '../../text/storable.ts';
import {
  type JsonValue,
  type RunFailure,
  type RunOutput,
  SANDBOX_LIMITS,
  type SyntaxOutcome,
} from '../python-sandbox.ts';
import type { Frame } from './runner-protocol.ts';

const MAX_DEPTH = 101;
const text = z.string().max(20_000);
const place = z.number().int().nullable();

const answer = z.union([
  z.object({ ok: z.literal(true), result: z.custom<JsonValue>((value) => value !== undefined) }),
  z.object({
    ok: z.literal(true),
    problems: z
      .array(
        z.object({
          severity: z.enum(['error', 'warning']),
          message: text,
          line: z.number().int(),
          column: z.number().int(),
          end_line: z.number().int(),
          end_column: z.number().int(),
        }),
      )
      .max(100),
    functions: z.array(text).max(1000),
  }),
  z.object({
    ok: z.literal(false),
    kind: z.literal('exception'),
    type: text,
    message: text,
    frames: z.array(z.object({ line: z.number().int(), function: text })).max(20),
  }),
  z.object({ ok: z.literal(false), kind: z.literal('syntax'), message: text, line: place, column: place }),
  z.object({ ok: z.literal(false), kind: z.literal('no-entrypoint'), message: text }),
  z.object({ ok: z.literal(false), kind: z.literal('not-json'), reason: text }),
  z.object({ ok: z.literal(false), kind: z.literal('limit'), size: z.number().int().min(0) }),
]);
type Answer = z.infer<typeof answer>;

/** What of the request a message needs. */
export interface AskedRun {
  code: string;
  entrypoint: string | null;
  timeoutMs: number;
  memoryBytes: number;
}

/** `{"ok":true,"result":` and `}` around the value. */
const WRAPPING_BYTES = 21;

/** The value or failure of a call. The worker's part was written by the process of the author's code and may lie. */
export function readOutcome(frame: Frame, asked: AskedRun): { kind: 'value'; value: JsonValue } | RunFailure {
  const failure = statusFailure(frame, asked);
  if (failure) return failure;
  const said = readAnswer(frame.worker);
  if (said === null) return { kind: 'not-json', reason: 'The function wrote something else than JSON as its result.' };
  if ('result' in said) {
    const sizeBytes = frame.worker.length - WRAPPING_BYTES;
    return sizeBytes > SANDBOX_LIMITS.resultBytes
      ? resultLimit(sizeBytes)
      : { kind: 'value', value: storable(said.result) };
  }
  if (said.ok) return { kind: 'not-json', reason: 'The function wrote something else than a result.' };
  return describe(said, asked);
}

/** The answer to a syntax check, which runs none of the author's code. */
export function readSyntax(frame: Frame, asked: AskedRun): SyntaxOutcome {
  const failure = statusFailure(frame, asked);
  if (failure) return failure;
  const said = readAnswer(frame.worker);
  if (said === null || !('problems' in said)) return { kind: 'crashed', exitCode: null, signal: null };
  const problems = said.problems.map(({ end_line, end_column, ...problem }) => ({
    ...problem,
    endLine: end_line,
    endColumn: end_column,
  }));
  return { kind: 'checked', problems, functions: said.functions };
}

/** What was printed, as text that can be stored. */
export function readOutput({ status, stdout, stderr }: Frame): RunOutput {
  const isCut = status.printed > stdout.length + stderr.length;
  const [out, err] = [printedText(stdout, isCut), printedText(stderr, isCut)];
  // What is no UTF-8 becomes U+FFFD, which takes three bytes: the limit is counted again.
  const shownOut = clipUtf8(out, Math.max(stdout.length, SANDBOX_LIMITS.logBytes - Buffer.byteLength(err)));
  const shownErr = clipUtf8(err, SANDBOX_LIMITS.logBytes - Buffer.byteLength(shownOut));
  return {
    stdout: shownOut,
    stderr: shownErr,
    outputTruncated: isCut || shownOut !== out || shownErr !== err,
    durationMs: status.ms,
  };
}

function statusFailure({ status }: Frame, asked: AskedRun): RunFailure | null {
  switch (status.status) {
    case 'done':
      return null;
    case 'timeout':
      return { kind: 'timeout', timeoutMs: asked.timeoutMs };
    case 'memory':
      return { kind: 'memory', limitBytes: asked.memoryBytes, line: null };
    case 'result-too-large':
      return resultLimit(Math.max(0, (status.size ?? 0) - WRAPPING_BYTES));
    case 'died':
      return { kind: 'crashed', exitCode: status.exit, signal: status.signal };
  }
}

function describe(said: Extract<Answer, { ok: false }>, asked: AskedRun): RunFailure {
  switch (said.kind) {
    case 'exception':
      return describeException(said, asked);
    case 'syntax':
      return { kind: 'syntax', message: storableText(said.message), line: said.line, column: said.column };
    case 'no-entrypoint':
      return { kind: 'no-entrypoint', entrypoint: asked.entrypoint, message: storableText(said.message) };
    case 'not-json':
      return { kind: 'not-json', reason: storableText(said.reason) };
    case 'limit':
      return resultLimit(said.size);
  }
}

function describeException(
  { type, message, frames }: { type: string; message: string; frames: { line: number; function: string }[] },
  { code, memoryBytes }: AskedRun,
): RunFailure {
  const lines = code.split(/\r\n|\r|\n/);
  // The worker may name lines that are not there.
  const last = frames.at(-1)?.line ?? 0;
  const line = last >= 1 && last <= lines.length ? last : null;
  if (type === 'MemoryError' && message === '') return { kind: 'memory', limitBytes: memoryBytes, line };
  const trace = frames.map((frame) => {
    const source = (lines[frame.line - 1] ?? '').trim().slice(0, 200);
    return `  line ${frame.line}, in ${frame.function}\n${source ? `    ${source}\n` : ''}`;
  });
  const summary = message === '' ? type : `${type}: ${message}`;
  const traceback = `${trace.length > 0 ? 'Traceback (most recent call last):\n' : ''}${trace.join('')}${summary}`;
  return {
    kind: 'exception',
    type: storableText(type),
    message: storableText(message),
    line,
    traceback: storableText(traceback),
  };
}

function resultLimit(foundBytes: number): RunFailure {
  return { kind: 'limit', limit: 'result', allowedBytes: SANDBOX_LIMITS.resultBytes, foundBytes };
}

function readAnswer(bytes: Buffer): Answer | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isDeeperThan(value, MAX_DEPTH)) return { ok: false, kind: 'not-json', reason: 'The value is nested too deep.' };
    return answer.safeParse(value).data ?? null;
  } catch {
    // The author's code wrote into the pipe of its result: no answer is what it gets.
    return null;
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  const rest: [unknown, number][] = [[value, 0]];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const [part, depth] = next;
    if (typeof part !== 'object' || part === null) continue;
    if (depth > levels) return true;
    for (const item of Object.values(part)) rest.push([item, depth + 1]);
  }
  return false;
}

/** Object.fromEntries defines properties, so `__proto__` stays a key like any other. */
function storable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), storable(item)]));
}

/** As text that can be stored; where the limit may have cut the last character, what is left of it goes. */
function printedText(bytes: Buffer, mayBeCut: boolean): string {
  return storableText(mayBeCut ? wholeCharacters(bytes) : bytes.toString('utf8'));
}

function clipUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? text : wholeCharacters(bytes.subarray(0, maxBytes));
}

/** A decoder keeps back the beginning of a character that is not complete. */
function wholeCharacters(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes);
}
