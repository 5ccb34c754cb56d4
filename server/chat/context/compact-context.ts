import type { Logger } from 'pino';
import type { ChatModel, ModelReply, Round } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import { clipToTokens, countTokens } from '../../models/tokens.ts';
import { joinSignals } from '../../observability/joined-signal.ts';
import { storableText } from '../../text/storable.ts';
import { summariseMessage, systemPrompt } from '../agent/prompts.ts';
import { NO_USAGE, type Usage, usageOf } from '../agent/usage.ts';
import { CLIP_MARKER, clipRound } from './clip-round.ts';
import type { CompactionPlan, RoundLimits } from './compaction-plan.ts';
import type { ChatContext, ContextStore } from './context-store.ts';
import { type RoundSize, summaryAllowance } from './window.ts';

/** A question waits no longer for its memory; what is left is merged with the next one. In ms. */
const COMPACTION_DEADLINE_MS = 120_000;

export interface CompactionPorts {
  contexts: ContextStore;
  /** The rounds of a chat from one place to another, both included, oldest first. */
  readRounds(chatId: string, from: number, through: number): Promise<Round[]>;
  model: ChatModel;
  log: Logger;
}

export interface CompactionRequest {
  chatId: string;
  context: ChatContext;
  plan: CompactionPlan;
  recentTokens: number;
  /** Of the caller's lease. */
  fence: number | null;
  signal: AbortSignal;
}

/** `mergedRounds`: of this run. `failure`: why it ended before its last batch; null where it did not. */
export interface Compaction {
  context: ChatContext;
  mergedRounds: number;
  failure: string | null;
  usage: Usage;
}

/**
 * Merges batch after batch into the summary, each stored with its watermark before the next begins (R62). The
 * first failure ends the run: what was merged before it stays, what was not stays where it is (R63). Throws only
 * when `signal` fires, and what the database throws.
 */
export async function compactContext(ports: CompactionPorts, request: CompactionRequest): Promise<Compaction> {
  const { signal, dispose } = joinSignals([request.signal], { timeoutMs: COMPACTION_DEADLINE_MS });
  const done: Compaction = { context: request.context, mergedRounds: 0, failure: null, usage: { ...NO_USAGE } };
  try {
    for (const batch of request.plan.batches) {
      const failure = await mergeBatch(ports, { ...request, signal }, { batch, done });
      request.signal.throwIfAborted();
      if (failure === null) continue;
      ports.log.warn({ chat: request.chatId, failure }, 'a conversation was not compacted further');
      return { ...done, failure };
    }
    return done;
  } finally {
    dispose();
  }
}

/** Adds one batch to what is `done`. Returns why it could not. */
async function mergeBatch(
  ports: CompactionPorts,
  request: CompactionRequest,
  { batch, done }: { batch: readonly RoundSize[]; done: Compaction },
): Promise<string | null> {
  const [first] = batch;
  const last = batch.at(-1);
  if (!first || !last) return null;
  const rounds = await ports.readRounds(request.chatId, first.index, last.index);
  const maxTokens = summaryAllowance(request.recentTokens);
  const summarised = await summarise(ports.model, {
    summary: done.context.summary,
    rounds,
    limits: request.plan.limits,
    maxTokens,
    signal: request.signal,
  });
  done.usage.promptTokens += summarised.usage.promptTokens;
  done.usage.completionTokens += summarised.usage.completionTokens;
  if (summarised.failure !== null) return summarised.failure;
  const { summary } = summarised;
  const stored = await ports.contexts.saveMerge({
    chatId: request.chatId,
    revision: done.context.revision,
    summary,
    summaryTokens: countTokens(summary),
    through: last,
    rounds: batch.length,
    fence: request.fence,
  });
  if (!stored) return 'another writer was faster';
  done.context = stored;
  done.mergedRounds += batch.length;
  return null;
}

interface SummariseRequest {
  summary: string;
  rounds: readonly Round[];
  limits: RoundLimits;
  maxTokens: number;
  signal: AbortSignal;
}

/** One model call. A refused reply is a failure with its reason; only what is no ModelError is thrown. */
async function summarise(
  model: ChatModel,
  request: SummariseRequest,
): Promise<{ summary: string; failure: string | null; usage: Usage }> {
  const { maxTokens } = request;
  const rounds = request.rounds.map((round) => clipRound(round, request.limits));
  // An allowance that was lowered since leaves an old summary too long for the request.
  const summary = clipToTokens(request.summary, maxTokens, CLIP_MARKER);
  const messages = [
    { role: 'system', content: systemPrompt('summarise') } as const,
    { role: 'user', content: summariseMessage({ kind: 'summarise', summary, rounds, maxTokens }) } as const,
  ];
  try {
    const reply = await model.generate({
      task: { kind: 'summarise', summary, rounds, maxTokens },
      messages,
      maxTokens,
      thinking: 'disabled',
      responseFormat: 'text',
      signal: request.signal,
    });
    return { ...checkSummary(reply, maxTokens), usage: usageOf(reply, messages) };
  } catch (error) {
    if (error instanceof ModelError) return { summary: '', failure: error.code, usage: NO_USAGE };
    throw error;
  }
}

/** A summary that was cut, is blank or is too long would lose what it replaces. */
function checkSummary(reply: ModelReply, maxTokens: number): { summary: string; failure: string | null } {
  const summary = storableText(reply.content).trim();
  if (reply.finishReason !== 'stop') return { summary: '', failure: `the summary ended as ${reply.finishReason}` };
  if (summary === '') return { summary: '', failure: 'the summary is blank' };
  const tokens = countTokens(summary);
  if (tokens > maxTokens) return { summary: '', failure: `the summary has ${tokens} tokens, ${maxTokens} are allowed` };
  return { summary, failure: null };
}
