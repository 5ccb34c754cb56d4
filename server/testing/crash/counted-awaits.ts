import type { Database } from '../../database/database.ts';
import type { ChatModel } from '../../models/chat-model.ts';

/** Counts the awaits of some work and kills the process at one of them, as a power cut would. */
export class CountedAwaits {
  count = 0;
  /** Nothing counts before the work begins. */
  isArmed = false;
  readonly #killAt: number | null;

  constructor(killAt: number | null) {
    this.#killAt = killAt;
  }

  /** Before and after each wait: the request may not have been sent, or its answer not been heard. */
  async around<T>(work: () => Promise<T>): Promise<T> {
    this.#pass();
    const result = await work();
    this.#pass();
    return result;
  }

  #pass(): void {
    if (!this.isArmed) return;
    this.count += 1;
    if (this.count === this.#killAt) process.kill(process.pid, 'SIGKILL');
  }
}

/** A database whose every statement is an await that counts. */
export function countedDatabase(database: Database, awaits: CountedAwaits): Database {
  return {
    engine: database.engine,
    query: <Row extends object>(sql: string, parameters?: readonly unknown[]) =>
      awaits.around(() => database.query<Row>(sql, parameters)),
    transaction: (work) => awaits.around(() => database.transaction(work)),
    close: () => database.close(),
  };
}

/** A model whose every call and every piece of an answer is an await that counts. */
export function countedModel(model: ChatModel, awaits: CountedAwaits): ChatModel {
  return {
    name: model.name,
    offline: model.offline,
    generate: (request) => awaits.around(() => model.generate(request)),
    streamOpenAi: (request, onDelta) =>
      awaits.around(() => model.streamOpenAi(request, (delta) => awaits.around(async () => onDelta(delta)))),
  };
}
