import type { AnswerChunk, StreamError } from '../../contract/chat.ts';
import type { AnswerUsage, ChatEvent, DeliverChatEvent } from '../chat/chat-events.ts';
import { failureMessage, type Language } from './messages.ts';
import type { EventStream, FrameLines } from './sse.ts';

/** `agentStatus`: named events and ids are on (R74); off, the stream is exactly MaxKB's. */
export interface AnswerStreamOptions {
  chatId: string;
  recordId: string;
  agentStatus: boolean;
  language: Language;
}

/**
 * Turns the events of an answer into the frames of maxkb-v1-api.md section 3.2 and R125, and ends the stream
 * after the last. An event of several frames has its id on the last of them, so that a reader who was cut off between
 * them gets all of them again. The returned function throws ReaderGoneError.
 */
export function streamAnswerTo(stream: EventStream, options: AnswerStreamOptions): DeliverChatEvent {
  const { agentStatus } = options;
  let said = '';
  return async (event: ChatEvent, number: number | null) => {
    const id = agentStatus && number !== null ? { id: number } : {};
    switch (event.kind) {
      case 'status':
        return agentStatus ? stream.send(event.status, { event: 'agent_status', ...id }) : undefined;
      case 'answer-delta':
        if (event.content === '' && event.reasoningContent === '') return;
        said ||= event.content;
        return stream.send(deltaChunk(options, event.content, event.reasoningContent), id);
      case 'answer-end':
        // The chunk that MaxKB flushes its think-tag parser with; clients count on the sequence.
        await stream.send(deltaChunk(options, ''));
        await stream.send(endChunk(options, event.usage), id);
        return stream.end();
      case 'answer-failed':
        await stream.send(...failureFrame(options, event.error, said));
        await stream.send(endChunk(options, NO_USAGE), id);
        return stream.end();
    }
  };
}

/**
 * What a failure adds to the text that was `said` before it. Whoever stops an answer knows why it ends, and keeps it
 * as it is.
 */
export function failureText(
  error: StreamError | null,
  { said, language }: { said: string; language: Language },
): string {
  if (error === null || (error.code === 'stopped' && said !== '')) return '';
  return exceptionText(error, language);
}

/** The words of a failure inside an answer, as MaxKB's clients know them. */
export function exceptionText(error: StreamError, language: Language): string {
  return `Exception:${failureMessage(error, language)}`;
}

const NO_USAGE: AnswerUsage = { promptTokens: 0, completionTokens: 0 };

function failureFrame(options: AnswerStreamOptions, error: StreamError, said: string): [unknown, FrameLines?] {
  const { language } = options;
  if (!options.agentStatus) return [deltaChunk(options, failureText(error, { said, language }))];
  const data: StreamError = { code: error.code, message: failureMessage(error, language) };
  return [data, { event: 'error' }];
}

function deltaChunk({ chatId, recordId }: AnswerStreamOptions, content: string, reasoningContent = ''): AnswerChunk {
  return {
    chat_id: chatId,
    chat_record_id: recordId,
    operate: true,
    content,
    node_id: 'ai-chat-node',
    up_node_id_list: [],
    is_end: false,
    usage: usageOf(NO_USAGE),
    node_is_end: false,
    view_type: 'many_view',
    node_type: 'ai-chat-node',
    real_node_id: 'ai-chat-node',
    reasoning_content: reasoningContent,
  };
}

/** Without text, which the front end would drop, and without the last two fields, as MaxKB has it. */
function endChunk(options: AnswerStreamOptions, usage: AnswerUsage): AnswerChunk {
  const { real_node_id: _node, reasoning_content: _reasoning, ...chunk } = deltaChunk(options, '');
  return { ...chunk, is_end: true, usage: usageOf(usage), node_is_end: true };
}

function usageOf({ promptTokens, completionTokens }: AnswerUsage): AnswerChunk['usage'] {
  return {
    completion_tokens: completionTokens,
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
