import type { CitedParagraph, RecordDetail, StreamError } from '../../contract/chat.ts';
import { failureText } from '../http/answer-stream.ts';
import { failureMessage, type Language } from '../http/messages.ts';
import type { RecordRow } from './chat-store.ts';

/**
 * A stored record in the shape of the wire (maxkb-v1-api.md section 4). A failed one shows what its stream
 * showed: the text so far and `Exception:` with the reason; the reason alone is the last of
 * `execution_details`, with step_type `error`. Times are UTC in ISO 8601 with milliseconds.
 */
export function presentRecord(row: RecordRow, language: Language): RecordDetail {
  const error = failureOf(row);
  const answerText = `${row.answer_text ?? ''}${failureText(error, { said: row.answer_text ?? '', language })}`;
  const paragraphs = row.details.search_step?.paragraph_list ?? [];
  return {
    id: row.id,
    chat_id: row.chat_id,
    vote_status: row.vote_status,
    problem_text: row.problem_text,
    answer_text: answerText,
    message_tokens: row.message_tokens,
    answer_tokens: row.answer_tokens,
    const: row.const,
    improve_paragraph_id_list: row.improve_paragraph_id_list,
    run_time: row.run_time,
    index: row.index,
    answer_text_list: [[answerPart(answerText, row.reasoning_content)]],
    create_time: row.create_time.toISOString(),
    update_time: row.update_time.toISOString(),
    padding_problem_text: row.padding_problem_text,
    dataset_list: datasetsOf(paragraphs),
    paragraph_list: paragraphs,
    execution_details: executionDetails(row, error, language),
    state: row.state,
    citations: row.citations,
    agent_trace: row.agent_trace,
    agent_stop_reason: row.agent_stop_reason,
    context_info: row.context_info,
  };
}

/** A crash leaves no reason behind; it is one. */
function failureOf(row: RecordRow): StreamError | null {
  if (row.details.error) return row.details.error;
  if (row.state !== 'interrupted') return null;
  return { code: 'interrupted', message: 'The server was restarted before the answer was complete; ask again.' };
}

/** The literals are MaxKB's for an application without a workflow. */
function answerPart(content: string, reasoningContent: string) {
  return {
    view_type: 'ai-chat-node',
    content,
    runtime_node_id: 'ai-chat-node',
    chat_record_id: 'ai-chat-node',
    child_node: {},
    reasoning_content: reasoningContent,
    real_node_id: 'ai-chat-node',
  };
}

function datasetsOf(paragraphs: readonly CitedParagraph[]): RecordDetail['dataset_list'] {
  const names = new Map(paragraphs.map((paragraph) => [paragraph.dataset_id, paragraph.dataset_name]));
  return [...names].map(([id, name]) => ({ id, name }));
}

function executionDetails(
  { details }: RecordRow,
  error: StreamError | null,
  language: Language,
): RecordDetail['execution_details'] {
  const steps = [details.problem_padding, details.search_step, details.chat_step].filter((step) => step !== undefined);
  if (!error) return steps;
  return [...steps, { step_type: 'error', code: error.code, message: failureMessage(error, language) }];
}
