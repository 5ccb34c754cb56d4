import type { Database } from '../server/database/database.ts';
import type { ChatModel, ModelReply, ModelRequest, ReplyDelta } from '../server/models/chat-model.ts';

/** Adds up the time in which a question waits for somebody, in ms. Waits that overlap count once. */
export class WaitClock {
  waitedMs = 0;
  #waits = 0;
  #sinceMs = 0;

  /** Returns the end of the wait, which may be called twice. */
  begin(): () => void {
    if (this.#waits === 0) this.#sinceMs = performance.now();
    this.#waits += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#waits -= 1;
      if (this.#waits === 0) this.waitedMs += performance.now() - this.#sinceMs;
    };
  }

  /** Counts the whole time of `work` as waiting. */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }
}

/** A database whose every statement counts as waiting. */
export function timedDatabase(database: Database, clock: WaitClock): Database {
  return {
    engine: database.engine,
    query: <Row extends object>(sql: string, parameters?: readonly unknown[]) =>
      clock.wait(() => database.query<Row>(sql, parameters)),
    // Statements inside count themselves; the time between them is our own.
    transaction: (work) => database.transaction(work),
    close: () => database.close(),
  };
}

/** A chat model whose calls count as waiting until their first token. */
export function timedModel(model: ChatModel, clock: WaitClock): ChatModel {
  return {
    name: model.name,
    offline: model.offline,
    generate: (request: ModelRequest): Promise<ModelReply> => clock.wait(() => model.generate(request)),
    streamOpenAi: async (request: ModelRequest, onDelta: (delta: ReplyDelta) => void | Promise<void>) => {
      const end = clock.begin();
      try {
        return await model.streamOpenAi(request, (delta) => {
          end();
          return onDelta(delta);
        });
      } finally {
        end();
      }
    },
  };
}
