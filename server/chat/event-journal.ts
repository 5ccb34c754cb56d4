import type { Logger } from 'pino';
import { within } from '../observability/joined-signal.ts';
import type { ChatEvent } from './chat-events.ts';
import type { EventBatch, EventStore } from './event-store.ts';

/** How far a second reader is behind the first at most, in ms; each write takes all events since the last. */
const FLUSH_MS = 200;

/** A write that hangs in a dead connection must not hold up the end of an answer. In ms. */
const WRITE_MS = 5000;

/**
 * Numbers the events of one answer and stores them in batches, without making the reader wait. What cannot be
 * stored now goes with the next batch. The last batch, with the end, is stored together with the record.
 */
export class EventJournal {
  readonly #store: EventStore;
  readonly #recordId: string;
  readonly #log: Logger;
  #pending: ChatEvent[] = [];
  #lastNumber = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: EventStore, { recordId, log }: { recordId: string; log: Logger }) {
    this.#store = store;
    this.#recordId = recordId;
    this.#log = log;
  }

  /** Returns the event's number, from 1. */
  add(event: ChatEvent): number {
    this.#pending.push(event);
    this.#lastNumber += 1;
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    return this.#lastNumber;
  }

  /** Stops writing. Returns what is not stored yet, `end` last; the caller stores it. */
  async close(end: ChatEvent): Promise<EventBatch & { lastNumber: number }> {
    clearTimeout(this.#timer);
    await within(WRITE_MS, 'Storing events', this.#writing).catch((error: unknown) => {
      this.#log.warn({ err: error, record: this.#recordId }, 'events of an answer are stored with its end');
    });
    clearTimeout(this.#timer);
    this.#pending.push(end);
    this.#lastNumber += 1;
    return { ...this.#batch(), lastNumber: this.#lastNumber };
  }

  #batch(): EventBatch {
    return { firstNumber: this.#lastNumber - this.#pending.length + 1, events: this.#pending };
  }

  #flush(): void {
    const batch = this.#batch();
    const written = batch.events.length;
    this.#writing = this.#store
      .append(this.#recordId, { ...batch, events: [...batch.events] })
      .then(() => {
        this.#pending = this.#pending.slice(written);
      })
      .catch((error: unknown) => {
        this.#log.warn({ err: error, record: this.#recordId }, 'events of an answer are stored later');
      })
      .finally(() => {
        this.#timer = this.#pending.length > 0 ? setTimeout(() => this.#flush(), FLUSH_MS) : undefined;
      });
  }
}
