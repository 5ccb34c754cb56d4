import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { Database, DatabaseEngine } from './database.ts';

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Counts and sums arrive as numbers: nothing of ours passes 2^53. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8_OID || oid === NUMERIC_OID) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** The connection of the transaction that is open in this chain of calls. */
interface OpenTransaction {
  client: pg.PoolClient;
  over: boolean;
}

/**
 * A database behind the `pg` driver. One pool serves both engines; the embedded one allows a single
 * connection, so a `query` inside `transaction` must find its client here and never ask the pool.
 */
export class PostgresDatabase implements Database {
  readonly engine: DatabaseEngine;
  readonly #pool: pg.Pool;
  readonly #transaction = new AsyncLocalStorage<OpenTransaction>();
  readonly #afterClose: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(engine: DatabaseEngine, config: pg.PoolConfig, afterClose: () => Promise<void> = async () => {}) {
    this.engine = engine;
    this.#afterClose = afterClose;
    this.#pool = new pg.Pool({ ...config, types: types as unknown as pg.CustomTypesConfig });
    // Without a listener a connection lost while idle would end the process; the next query reconnects.
    this.#pool.on('error', () => {});
  }

  async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const open = this.#transaction.getStore();
    if (open?.over) throw new Error('A statement was sent after its transaction had ended; await it inside.');
    const runner = open ? open.client : this.#pool;
    const result = parameters.length > 0 ? await runner.query(sql, [...parameters]) : await runner.query(sql);
    return result.rows as Row[];
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const outer = this.#transaction.getStore();
    if (outer && !outer.over) return work();
    const client = await this.#pool.connect();
    const open: OpenTransaction = { client, over: false };
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await this.#transaction.run(open, work);
      open.over = true;
      await client.query('commit');
      return result;
    } catch (error) {
      open.over = true;
      broken = await rollback(client);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end().then(this.#afterClose);
    return this.#closing;
  }
}

/** Returns the error that makes the connection unfit for reuse, if any. */
async function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
