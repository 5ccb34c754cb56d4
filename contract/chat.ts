import { z } from 'zod';

/** Why the search for evidence ended (R81): exactly these eight. */
export const stopReason = z.enum([
  'sufficient',
  'max_rounds',
  'duplicate_query',
  'no_new_evidence',
  'evidence_budget',
  'no_followup_query',
  'no_datasets',
  'assessment_error',
]);
export type StopReason = z.infer<typeof stopReason>;

/** How a record stands (R81). `interrupted`: found unfinished after a crash. */
export const recordState = z.enum(['running', 'done', 'stopped', 'failed', 'interrupted']);
export type RecordState = z.infer<typeof recordState>;

/** One round of the evidence loop as it is stored (R80). */
export const traceRow = z.object({
  round: z.number().int(),
  queries: z.array(z.string()),
  new_paragraph_ids: z.array(z.string()),
  total_evidence: z.number().int(),
  sufficient: z.boolean(),
  missing: z.string(),
  next_queries: z.array(z.string()),
});
export type TraceRow = z.infer<typeof traceRow>;

/** A progress frame, `event: agent_status` (R76), in the order of the phases. */
export const agentStatus = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('context') }),
  z.object({ phase: z.literal('compacting') }),
  z.object({ phase: z.literal('retrieving'), round: z.number().int(), queries: z.array(z.string()) }),
  z.object({ phase: z.literal('assessed'), round: z.number().int(), sufficient: z.boolean(), missing: z.string() }),
  z.object({ phase: z.literal('generating'), rounds: z.number().int(), stop_reason: stopReason }),
]);
export type AgentStatus = z.infer<typeof agentStatus>;

/** Where a statement of the answer comes from (R121). `n` is the number in the answer's `[n]`. */
export const citation = z.object({
  n: z.number().int(),
  paragraph_id: z.string(),
  document_id: z.string(),
  document: z.string(),
  title: z.string(),
  quote: z.string(),
  /** Offsets of the quote in the stored paragraph, in UTF-16 units. */
  start: z.number().int(),
  end: z.number().int(),
  verified: z.boolean(),
  /** Why it is not verified; empty where it is. */
  reason: z.string(),
});
export type Citation = z.infer<typeof citation>;

/** What of the conversation went into the answer (R82). */
export const contextInfo = z.object({
  enabled: z.boolean(),
  compacted: z.boolean(),
  compacted_rounds: z.number().int(),
  recent_rounds: z.number().int(),
  revision: z.number().int(),
  through_record_id: z.string().nullable(),
  token_budget: z.number().int(),
  estimated_tokens: z.number().int(),
  threshold_exceeded: z.boolean(),
  compaction_reason: z.enum(['token_budget_exceeded', 'none', 'failed']),
});
export type ContextInfo = z.infer<typeof contextInfo>;

/** What a conversation remembers (R68). `summary` is empty before the first compaction. */
export const chatContextState = z.object({
  summary: z.string(),
  through_record_id: z.string().nullable(),
  compacted_rounds: z.number().int(),
  revision: z.number().int(),
});
export type ChatContextState = z.infer<typeof chatContextState>;

/** What `POST …/context/compact` did, and what stands now. `failed`: nothing, or not all of it, was merged; nothing is lost. */
export const compacted = chatContextState.extend({
  compacted: z.boolean(),
  compaction_reason: contextInfo.shape.compaction_reason,
});
export type Compacted = z.infer<typeof compacted>;

/** The body of `POST application/chat_message/:chat_id`; fields of workflows are accepted and ignored. */
export const chatRequest = z.object({
  message: z.string(),
  stream: z.boolean().default(true),
  re_chat: z.boolean().default(false),
});
export type ChatRequest = z.infer<typeof chatRequest>;

export const tokenUsage = z.object({
  completion_tokens: z.number().int(),
  prompt_tokens: z.number().int(),
  total_tokens: z.number().int(),
});

/** One `data:` frame of an answer; the last one lacks the two optional fields (maxkb-v1-api.md section 3.2). */
export const answerChunk = z.object({
  chat_id: z.string(),
  chat_record_id: z.string(),
  operate: z.literal(true),
  content: z.string(),
  node_id: z.literal('ai-chat-node'),
  up_node_id_list: z.array(z.string()),
  is_end: z.boolean(),
  usage: tokenUsage,
  node_is_end: z.boolean(),
  view_type: z.literal('many_view'),
  node_type: z.literal('ai-chat-node'),
  real_node_id: z.literal('ai-chat-node').optional(),
  reasoning_content: z.string().optional(),
});
export type AnswerChunk = z.infer<typeof answerChunk>;

/** The data of an `event: error` frame (R125). */
export const streamError = z.object({ code: z.string(), message: z.string() });
export type StreamError = z.infer<typeof streamError>;

/** A paragraph in record detail, in MaxKB's shape (maxkb-v1-api.md section 4.2). */
export const citedParagraph = z.object({
  id: z.string(),
  document_id: z.string(),
  dataset_id: z.string(),
  content: z.string(),
  title: z.string(),
  status: z.array(z.string()),
  is_active: z.boolean(),
  comprehensive_score: z.number(),
  similarity: z.number(),
  dataset_name: z.string(),
  document_name: z.string(),
  meta: z.string(),
});
export type CitedParagraph = z.infer<typeof citedParagraph>;

/** A stored question with its answer, and why it is what it is (maxkb-v1-api.md section 4, R80–R82, R121). */
export const recordDetail = z.object({
  id: z.string(),
  chat_id: z.string(),
  vote_status: z.string(),
  problem_text: z.string(),
  answer_text: z.string(),
  message_tokens: z.number(),
  answer_tokens: z.number(),
  const: z.number(),
  improve_paragraph_id_list: z.array(z.string()),
  run_time: z.number(),
  index: z.number(),
  answer_text_list: z.array(z.array(z.record(z.string(), z.unknown()))),
  create_time: z.string(),
  update_time: z.string(),
  padding_problem_text: z.string().nullable(),
  dataset_list: z.array(z.object({ id: z.string(), name: z.string() })),
  paragraph_list: z.array(citedParagraph),
  execution_details: z.array(z.record(z.string(), z.unknown())),
  state: recordState,
  citations: z.array(citation),
  agent_trace: z.array(traceRow),
  agent_stop_reason: stopReason.nullable(),
  context_info: contextInfo.nullable(),
});
export type RecordDetail = z.infer<typeof recordDetail>;
