import type { Database } from '../../database/database.ts';
import { storableText } from '../../text/storable.ts';

/** The durable memory of a chat. Before the first merge: no summary, `revision` 0, `throughIndex` 0. */
export interface ChatContext {
  summary: string;
  /** Estimated tokens of the summary. */
  summaryTokens: number;
  /** The watermark: the last record merged, and its place in the chat. */
  throughRecordId: string | null;
  throughIndex: number;
  compactedRounds: number;
  revision: number;
}

/** One merged batch: the new summary and how far it reaches. */
export interface Merge {
  chatId: string;
  /** The revision that was read; another one in the table refuses the merge (R70). */
  revision: number;
  summary: string;
  summaryTokens: number;
  through: { recordId: string; index: number };
  /** Rounds in this batch. */
  rounds: number;
  /** Of the caller's lease; null where one process holds the database alone. */
  fence: number | null;
}

const EMPTY: Readonly<ChatContext> = {
  summary: '',
  summaryTokens: 0,
  throughRecordId: null,
  throughIndex: 0,
  compactedRounds: 0,
  revision: 0,
};

const COLUMNS = `summary, summary_tokens as "summaryTokens", through_record_id as "throughRecordId",
  through_index as "throughIndex", compacted_rounds as "compactedRounds", revision`;

/** Summaries and watermarks in the database (R61). */
export class ContextStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async load(chatId: string): Promise<ChatContext> {
    const [row] = await this.#database.query<ChatContext>(
      `select ${COLUMNS} from max_kb_chat_context where chat_id = $1`,
      [chatId],
    );
    return row ?? { ...EMPTY };
  }

  /**
   * Stores summary and watermark in one statement, or nothing: null where another writer was faster, the lease was
   * lost, or the watermark would not advance (R62, R67, R70).
   */
  async saveMerge(merge: Merge): Promise<ChatContext | null> {
    const [row] = await this.#database.query<ChatContext>(
      `with held as (select 1 from max_kb_chat_lease where chat_id = $1 and fence = $8 for share)
       insert into max_kb_chat_context as stored
         (chat_id, summary, summary_tokens, through_record_id, through_index, compacted_rounds, revision)
       select $1, $2, $3, $4, $5, $6, 1
       where ($8::bigint is null or exists (select 1 from held))
         and ($7::int = 0 or exists (select 1 from max_kb_chat_context where chat_id = $1))
       on conflict (chat_id) do update set summary = excluded.summary, summary_tokens = excluded.summary_tokens,
         through_record_id = excluded.through_record_id, through_index = excluded.through_index,
         compacted_rounds = stored.compacted_rounds + excluded.compacted_rounds, revision = stored.revision + 1,
         update_time = clock_timestamp()
       where stored.revision = $7 and stored.through_index < excluded.through_index
       returning ${COLUMNS}`,
      [
        merge.chatId,
        storableText(merge.summary),
        merge.summaryTokens,
        merge.through.recordId,
        merge.through.index,
        merge.rounds,
        merge.revision,
        merge.fence,
      ],
    );
    return row ?? null;
  }
}
