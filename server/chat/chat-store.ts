import { v7 as uuidv7 } from 'uuid';
import type { Citation, CitedParagraph, ContextInfo, RecordState, StopReason, TraceRow } from '../../contract/chat.ts';
import type { Database } from '../database/database.ts';
import type { Round } from '../models/chat-model.ts';
import { storableJson, storableText } from '../text/storable.ts';
import type { RoundSize } from './context/window.ts';
import { batchColumns, type EventBatch } from './event-store.ts';

export interface ChatRow {
  id: string;
  applicationId: string;
  clientId: string;
}

/** A record as it is stored; json columns are parsed by the driver. */
export interface RecordRow {
  id: string;
  chat_id: string;
  index: number;
  state: RecordState;
  vote_status: string;
  problem_text: string;
  answer_text: string | null;
  reasoning_content: string;
  message_tokens: number;
  answer_tokens: number;
  run_time: number;
  const: number;
  padding_problem_text: string | null;
  details: RecordDetails;
  citations: Citation[];
  agent_trace: TraceRow[];
  agent_stop_reason: StopReason | null;
  context_info: ContextInfo | null;
  improve_paragraph_id_list: string[];
  create_time: Date;
  update_time: Date;
}

/** MaxKB's `details`: one entry a step, keyed by its type (maxkb-v1-api.md section 4.2). */
export interface RecordDetails {
  problem_padding?: Record<string, unknown>;
  search_step?: Record<string, unknown> & { paragraph_list: CitedParagraph[] };
  chat_step?: Record<string, unknown>;
  /** Why a failed record failed, in words for people. */
  error?: { code: string; message: string };
}

/** What a finished question leaves behind, written in one statement (R66). */
export interface FinishedRecord {
  state: Exclude<RecordState, 'running'>;
  answerText: string | null;
  reasoningContent: string;
  answerTextTokens: number;
  messageTokens: number;
  answerTokens: number;
  runTimeSeconds: number;
  paddingProblemText: string | null;
  details: RecordDetails;
  citations: Citation[];
  agentTrace: TraceRow[];
  stopReason: StopReason | null;
  contextInfo: ContextInfo | null;
}

const RECORD_COLUMNS = `id, chat_id, index, state, vote_status, problem_text, answer_text, reasoning_content, message_tokens,
  answer_tokens, run_time, const, padding_problem_text, details, citations, agent_trace, agent_stop_reason, context_info,
  improve_paragraph_id_list, create_time, update_time`;

/** A record without an answer is never history (R66). */
const IS_ROUND = "answer_text is not null and answer_text <> '' and state in ('done', 'stopped')";

const CHAT_OF_RECORD = '(select chat_id from max_kb_application_chat_record where id = $1)';

/**
 * The part of a statement that is empty where a lease is somebody else's by now (R67). It locks the lease's row, so
 * that nobody takes it until the statement is done. A fence of null stands for a process that is alone.
 */
const whereHeld = (fence: string, chat: string) => `lease as (
         select 1 from max_kb_chat_lease where chat_id = ${chat} and fence = ${fence}::bigint for share),
       held as (select 1 where ${fence}::bigint is null or exists (select 1 from lease))`;

/** The part of a statement that stores the last events of the record that `finished` names. */
const keepEvents = (first: string, last: string, events: string) => `kept as (
         insert into max_kb_chat_event as kept (record_id, first_number, last_number, events)
         select id, ${first}::int, ${last}::int, ${events}::jsonb from finished
         on conflict (record_id, first_number) do update set last_number = excluded.last_number, events = excluded.events)`;

/** Conversations and their records in the database. */
export class ChatStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** `expireMinutes`: a chat that never gets a question is removed after that (R126), at the latest with the next one. */
  async insertChat(chat: { applicationId: string; clientId: string; expireMinutes: number }): Promise<string> {
    const id = uuidv7();
    await this.#database.query(
      `insert into max_kb_application_chat (id, application_id, client_id, expire_time)
       values ($1, $2, $3, clock_timestamp() + make_interval(mins => $4))`,
      [id, chat.applicationId, chat.clientId, chat.expireMinutes],
    );
    await this.deleteExpiredChats();
    return id;
  }

  async findChat(chatId: string): Promise<ChatRow | null> {
    const [row] = await this.#database.query<ChatRow>(
      `select id, application_id as "applicationId", client_id as "clientId" from max_kb_application_chat
       where id = $1 and not is_deleted and (expire_time is null or expire_time > clock_timestamp())`,
      [chatId],
    );
    return row ?? null;
  }

  /** Removes chats that were opened and never used. */
  async deleteExpiredChats(): Promise<void> {
    await this.#database.query('delete from max_kb_application_chat where expire_time < clock_timestamp()');
  }

  /**
   * Stores a question as running and keeps its chat from expiring, in one statement. What was running in the chat
   * before was left by a crash, since the caller holds the chat: it becomes `interrupted` (R81). `fence`: of the
   * caller's lease. Returns null where that is somebody else's by now (R67), or the chat was deleted.
   */
  async insertRecord(record: {
    chatId: string;
    question: string;
    questionTokens: number;
    fence: number | null;
  }): Promise<string | null> {
    const [row] = await this.#database.query<{ id: string }>(
      `with ${whereHeld('$5', '$2')},
       chat as (
         update max_kb_application_chat set expire_time = null, update_time = clock_timestamp(),
           abstract = case when abstract = '' then left($3, 1024) else abstract end
         where id = $2 and not is_deleted and exists (select 1 from held) returning id),
       left_over as (
         update max_kb_application_chat_record set state = 'interrupted', update_time = clock_timestamp()
         where chat_id = (select id from chat) and state = 'running')
       insert into max_kb_application_chat_record (id, chat_id, index, state, problem_text, problem_tokens)
       select $1, id, 1 + coalesce((select max(index) from max_kb_application_chat_record where chat_id = $2), 0),
         'running', $3, $4 from chat returning id`,
      [uuidv7(), record.chatId, record.question, record.questionTokens, record.fence],
    );
    return row?.id ?? null;
  }

  /**
   * Ends a running record and stores the last events of its stream, in one statement. `fence`: of the lease under
   * which it was written. Returns false where it was not running any more, or the lease is somebody else's (R67).
   */
  async finishRecord(
    recordId: string,
    finished: FinishedRecord,
    { fence, lastEvents }: { fence: number | null; lastEvents: EventBatch },
  ): Promise<boolean> {
    const rows = await this.#database.query(
      `with ${whereHeld('$15', CHAT_OF_RECORD)},
       finished as (
         update max_kb_application_chat_record set state = $2, answer_text = $3, reasoning_content = $4,
           answer_text_tokens = $5, message_tokens = $6, answer_tokens = $7, run_time = $8, padding_problem_text = $9,
           details = $10, citations = $11, agent_trace = $12, agent_stop_reason = $13, context_info = $14,
           update_time = clock_timestamp()
         where id = $1 and state = 'running' and exists (select 1 from held) returning id),
       ${keepEvents('$16', '$17', '$18')}
       select id from finished`,
      [recordId, ...finishedColumns(finished), fence, ...batchColumns(lastEvents)],
    );
    return rows.length > 0;
  }

  /** What the finished rounds after a place in the chat cost, oldest first. */
  async listRoundSizes(chatId: string, afterIndex: number): Promise<RoundSize[]> {
    return this.#database.query<RoundSize>(
      `select id as "recordId", index, problem_tokens as "questionTokens", answer_text_tokens as "answerTokens",
         problem_tokens + answer_text_tokens as tokens
       from max_kb_application_chat_record where chat_id = $1 and index > $2 and ${IS_ROUND} order by index`,
      [chatId, afterIndex],
    );
  }

  /** The finished rounds from one place to another, both included, oldest first. */
  async readRounds(chatId: string, from: number, through: number): Promise<Round[]> {
    return this.#database.query<Round>(
      `select problem_text as question, answer_text as answer
       from max_kb_application_chat_record where chat_id = $1 and index between $2 and $3 and ${IS_ROUND} order by index`,
      [chatId, from, through],
    );
  }

  async findRecord(chatId: string, recordId: string): Promise<RecordRow | null> {
    const [row] = await this.#database.query<RecordRow>(
      `select ${RECORD_COLUMNS} from max_kb_application_chat_record where chat_id = $1 and id = $2`,
      [chatId, recordId],
    );
    return row ?? null;
  }

  /** How a record stands; null where there is none. */
  async findRecordState(recordId: string): Promise<RecordState | null> {
    const [row] = await this.#database.query<{ state: RecordState }>(
      'select state from max_kb_application_chat_record where id = $1',
      [recordId],
    );
    return row?.state ?? null;
  }

  /** The record that is being answered in a chat; null where there is none. */
  async findRunningRecord(chatId: string): Promise<string | null> {
    const [row] = await this.#database.query<{ id: string }>(
      "select id from max_kb_application_chat_record where chat_id = $1 and state = 'running' order by index desc limit 1",
      [chatId],
    );
    return row?.id ?? null;
  }

  /** One page of a chat's records and how many there are in all. `page` counts from 1. */
  async pageRecords(
    chatId: string,
    page: { page: number; size: number; newestFirst: boolean },
  ): Promise<{ total: number; records: RecordRow[] }> {
    const [count] = await this.#database.query<{ total: number }>(
      'select count(*) as total from max_kb_application_chat_record where chat_id = $1',
      [chatId],
    );
    const records = await this.#database.query<RecordRow>(
      `select ${RECORD_COLUMNS} from max_kb_application_chat_record where chat_id = $1
       order by index ${page.newestFirst ? 'desc' : 'asc'} limit $2 offset $3`,
      [chatId, page.size, (page.page - 1) * page.size],
    );
    return { total: count?.total ?? 0, records };
  }

  /** Paragraphs that earlier answers of this chat to the same question were built on. */
  async listUsedParagraphIds(chatId: string, question: string): Promise<string[]> {
    const rows = await this.#database.query<{ id: string }>(
      `select distinct jsonb_array_elements_text(row -> 'new_paragraph_ids') as id
       from max_kb_application_chat_record, jsonb_array_elements(agent_trace) as row where chat_id = $1 and problem_text = $2`,
      [chatId, question],
    );
    return rows.map((row) => row.id);
  }

  /** Ends a running record whose answer could not be stored, unless another server has its conversation by now. */
  async failRecord(
    recordId: string,
    { fence, lastEvents }: { fence: number | null; lastEvents: EventBatch },
  ): Promise<void> {
    await this.#database.query(
      `with ${whereHeld('$5', CHAT_OF_RECORD)},
       finished as (
         update max_kb_application_chat_record set state = 'failed', update_time = clock_timestamp(),
           details = '{"error":{"code":"internal_error","message":"The answer could not be stored."}}'
         where id = $1 and state = 'running' and exists (select 1 from held) returning id),
       ${keepEvents('$2', '$3', '$4')}
       select id from finished`,
      [recordId, ...batchColumns(lastEvents), fence],
    );
  }

  /**
   * Marks what a crash left running (R81), in one chat or in all. `heldToo`: where the caller has the database alone and
   * knows that nobody is at work; else only what no lease holds. Returns how many there were.
   */
  async interruptRunningRecords({ chatId, heldToo }: { chatId: string | null; heldToo: boolean }): Promise<number> {
    const rows = await this.#database.query(
      `update max_kb_application_chat_record as record set state = 'interrupted', update_time = clock_timestamp()
       where state = 'running' and ($1::uuid is null or chat_id = $1)
         and ($2 or not exists (select 1 from max_kb_chat_lease as lease
           where lease.chat_id = record.chat_id and lease.expire_time > statement_timestamp()))
       returning id`,
      [chatId, heldToo],
    );
    return rows.length;
  }

  /** Takes a chat out of sight; its records stay for the log. Returns whether it was there. */
  async deleteChat(chatId: string): Promise<boolean> {
    const rows = await this.#database.query(
      `update max_kb_application_chat set is_deleted = true, update_time = clock_timestamp()
       where id = $1 and not is_deleted returning id`,
      [chatId],
    );
    return rows.length > 0;
  }
}

/** Columns of `finishRecord` from `$2` to `$14`. */
function finishedColumns(finished: FinishedRecord): unknown[] {
  const stored = (text: string | null) => (text === null ? null : storableText(text));
  return [
    finished.state,
    stored(finished.answerText),
    storableText(finished.reasoningContent),
    finished.answerTextTokens,
    finished.messageTokens,
    finished.answerTokens,
    finished.runTimeSeconds,
    stored(finished.paddingProblemText),
    storableJson(finished.details),
    storableJson(finished.citations),
    storableJson(finished.agentTrace),
    finished.stopReason,
    finished.contextInfo === null ? null : storableJson(finished.contextInfo),
  ];
}
