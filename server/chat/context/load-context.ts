import type { ContextInfo } from '../../../contract/chat.ts';
import { countTokens } from '../../models/tokens.ts';
import type { CostedRound } from '../agent/request-budget.ts';
import { NO_USAGE, type Usage } from '../agent/usage.ts';
import type { ChatStore } from '../chat-store.ts';
import { clipRound, fitRound } from './clip-round.ts';
import { type Compaction, type CompactionPorts, compactContext } from './compact-context.ts';
import { planCompaction } from './compaction-plan.ts';
import type { ChatContext } from './context-store.ts';
import { chooseWindow, type HistoryWindow, recentAllowance } from './window.ts';

export interface ContextPorts extends Omit<CompactionPorts, 'readRounds'> {
  store: Pick<ChatStore, 'listRoundSizes' | 'readRounds'>;
}

export interface ContextRequest {
  chatId: string;
  /** The application's `dialogue_number`; 0 switches history off (R69). */
  dialogueNumber: number;
  limits: { recentTokens: number; contextTokens: number };
  /** Of the caller's lease. */
  fence: number | null;
  /** Called once, right before the first summary call (R79). */
  onCompacting(): Promise<void> | void;
  signal: AbortSignal;
}

/** What of the conversation goes into this question. `summary` is empty where there is none; `rounds`: oldest first. */
export interface LoadedContext {
  summary: string;
  rounds: CostedRound[];
  info: ContextInfo;
  usage: Usage;
}

/**
 * Reads the memory of a conversation and compacts it first where it is over the limit (R45). A failed compaction
 * leaves everything as it was and says so in `info` (R63). Throws when `signal` fires, and what the database throws.
 */
export async function loadContext(ports: ContextPorts, request: ContextRequest): Promise<LoadedContext> {
  const { chatId, dialogueNumber, limits } = request;
  if (dialogueNumber === 0) return historyOff(limits.recentTokens);
  const context = await ports.contexts.load(chatId);
  const sizes = await ports.store.listRoundSizes(chatId, context.throughIndex);
  const window = chooseWindow({
    rounds: sizes,
    summaryTokens: context.summaryTokens,
    dialogueNumber,
    recentTokens: limits.recentTokens,
  });
  const compaction = await compactOlder(ports, request, { context, window });
  const rounds = await readCarried(ports, request, window);
  const { summary, summaryTokens } = compaction.context;
  return {
    summary,
    rounds,
    info: {
      enabled: true,
      compacted: compaction.mergedRounds > 0,
      compacted_rounds: compaction.context.compactedRounds,
      recent_rounds: rounds.length,
      revision: compaction.context.revision,
      through_record_id: compaction.context.throughRecordId,
      token_budget: limits.recentTokens,
      estimated_tokens: rounds.reduce((sum, round) => sum + round.tokens, summaryTokens),
      threshold_exceeded: window.exceeded,
      compaction_reason: reasonOf(compaction),
    },
    usage: compaction.usage,
  };
}

function historyOff(recentTokens: number): LoadedContext {
  return {
    summary: '',
    rounds: [],
    info: {
      enabled: false,
      compacted: false,
      compacted_rounds: 0,
      recent_rounds: 0,
      revision: 0,
      through_record_id: null,
      token_budget: recentTokens,
      estimated_tokens: 0,
      threshold_exceeded: false,
      compaction_reason: 'none',
    },
    usage: NO_USAGE,
  };
}

/** Nothing older, nothing to merge: a single long round is clipped, never compacted (R54). */
async function compactOlder(
  ports: ContextPorts,
  request: ContextRequest,
  { context, window }: { context: ChatContext; window: HistoryWindow },
): Promise<Compaction> {
  const { chatId, limits, fence, signal } = request;
  const plan = planCompaction(window.older, limits);
  if (plan.batches.length === 0) return { context, mergedRounds: 0, failure: null, usage: NO_USAGE };
  await request.onCompacting();
  const readRounds = (id: string, from: number, through: number) => ports.store.readRounds(id, from, through);
  const run = { chatId, context, plan, recentTokens: limits.recentTokens, fence, signal };
  return compactContext({ ...ports, readRounds }, run);
}

function reasonOf(compaction: Compaction): ContextInfo['compaction_reason'] {
  if (compaction.failure !== null) return 'failed';
  return compaction.mergedRounds > 0 ? 'token_budget_exceeded' : 'none';
}

/** The carried rounds in full; only one that alone exceeds the budget is clipped to it (R53, R54, R58). */
async function readCarried(
  ports: ContextPorts,
  { chatId, limits }: ContextRequest,
  window: HistoryWindow,
): Promise<CostedRound[]> {
  const [first] = window.carried;
  const last = window.carried.at(-1);
  if (!first || !last) return [];
  const rounds = await ports.store.readRounds(chatId, first.index, last.index);
  const budget = recentAllowance(limits.recentTokens);
  if (!window.exceeded || first.tokens <= budget) {
    return rounds.map((round, place) => ({ ...round, tokens: window.carried[place]?.tokens ?? 0 }));
  }
  return rounds.map((round) => {
    const clipped = clipRound(round, fitRound(first, budget));
    return { ...clipped, tokens: countTokens(clipped.question) + countTokens(clipped.answer) };
  });
}
