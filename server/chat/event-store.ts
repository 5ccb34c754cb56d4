import type { Database } from '../database/database.ts';
import { storableJson } from '../text/storable.ts';
import type { ChatEvent } from './chat-events.ts';

/** Consecutive events of one answer; `firstNumber` counts from 1. */
export interface EventBatch {
  firstNumber: number;
  events: readonly ChatEvent[];
}

/** `number`: null for an event that is not stored, so that nobody resumes after it. */
export interface NumberedEvent {
  number: number | null;
  event: ChatEvent;
}

/** Events stay this long after an answer's end. */
const KEPT_MINUTES = 60;

/** What the streams of recent answers said, so that another reader, or the same one later, can follow them. */
export class EventStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a batch of an answer that is still running: whoever lost it to another server can add nothing. A batch that
   * may have been stored already, after a lost connection, replaces itself.
   */
  async append(recordId: string, batch: EventBatch): Promise<void> {
    await this.#database.query(
      `insert into max_kb_chat_event as kept (record_id, first_number, last_number, events)
       select id, $2::int, $3::int, $4::jsonb from max_kb_application_chat_record where id = $1 and state = 'running'
       on conflict (record_id, first_number) do update set last_number = excluded.last_number, events = excluded.events
       where kept.last_number < excluded.last_number`,
      [recordId, ...batchColumns(batch)],
    );
  }

  /** The events after a number, in order; 0 for all. */
  async listAfter(recordId: string, after: number): Promise<NumberedEvent[]> {
    const rows = await this.#database.query<{ first_number: number; events: ChatEvent[] }>(
      `select first_number, events from max_kb_chat_event where record_id = $1 and last_number > $2 order by first_number`,
      [recordId, after],
    );
    return rows
      .flatMap((row) => row.events.map((event, place) => ({ number: row.first_number + place, event })))
      .filter(({ number }) => number > after);
  }

  /** Whether anything of an answer's stream is still there. */
  async hasAny(recordId: string): Promise<boolean> {
    const rows = await this.#database.query('select 1 from max_kb_chat_event where record_id = $1 limit 1', [recordId]);
    return rows.length > 0;
  }

  /** Removes the events of answers that ended over an hour ago. */
  async deleteOld(): Promise<void> {
    await this.#database.query(
      `delete from max_kb_chat_event as event using max_kb_application_chat_record as record
       where record.id = event.record_id and record.state <> 'running'
         and event.create_time < clock_timestamp() - make_interval(mins => $1)
         and record.update_time < clock_timestamp() - make_interval(mins => $1)`,
      [KEPT_MINUTES],
    );
  }
}

/** `first_number, last_number, events` as parameters. */
export function batchColumns(batch: EventBatch): [number, number, string] {
  return [batch.firstNumber, batch.firstNumber + batch.events.length - 1, storableJson(batch.events)];
}
