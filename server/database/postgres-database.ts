import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { Database, DatabaseEngine } from './database.ts';
import { DatabaseLostError } from './database-lost-error.ts';

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Counts and sums arrive as numbers: nothing of ours passes 2^53. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8_OID || oid === NUMERIC_OID) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** Codes with which a server ends a connection or takes none: 08 connection, 57P shutting down, 53300 too many. */
const CONNECTION_CODES = /^(?:08|57P|53300$)/;

/** A connection on loan from the pool. `lost`: what it died of meanwhile. */
interface Loan {
  client: pg.PoolClient;
  lost: Error | undefined;
}

/** The transaction that is open in this chain of calls. */
interface OpenTransaction {
  loan: Loan;
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
    if (open) return send(open.loan, sql, parameters);
    return this.#lend(async (loan, retire) => {
      try {
        return await send<Row>(loan, sql, parameters);
      } catch (error) {
        // The server's word on one statement says nothing against the connection.
        if (!(error instanceof pg.DatabaseError)) retire(toError(error));
        throw error;
      }
    });
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const outer = this.#transaction.getStore();
    if (outer && !outer.over) return work();
    return this.#lend(async (loan, retire) => {
      const open: OpenTransaction = { loan, over: false };
      try {
        await send(loan, 'begin');
        const result = await this.#transaction.run(open, work);
        open.over = true;
        await send(loan, 'commit');
        return result;
      } catch (error) {
        open.over = true;
        await send(loan, 'rollback').catch((failure: unknown) => retire(toError(failure)));
        throw error;
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    try {
      await this.#pool.end();
    } finally {
      await this.#afterClose();
    }
  }

  /** `retire` says that the connection is not fit to be used again. */
  async #lend<T>(work: (loan: Loan, retire: (why: Error) => void) => Promise<T>): Promise<T> {
    const loan: Loan = { client: await this.#connect(), lost: undefined };
    let unfit: Error | undefined;
    // Without a listener a connection lost while it is on loan would end the process.
    const onError = (error: Error) => {
      loan.lost ??= error;
    };
    loan.client.on('error', onError);
    try {
      return await work(loan, (why) => {
        unfit = why;
      });
    } finally {
      loan.client.release(loan.lost ?? unfit);
      loan.client.off('error', onError);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      // What the server refuses (password, name) it says; all else is that it was not reached.
      if (error instanceof pg.DatabaseError && !endsConnection(error)) throw error;
      throw lostBy(error);
    }
  }
}

/** Sends one statement. Throws DatabaseLostError where the connection is gone, else what the driver throws. */
async function send<Row extends object>(loan: Loan, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  try {
    const { client } = loan;
    const result = parameters.length > 0 ? await client.query(sql, [...parameters]) : await client.query(sql);
    return result.rows as Row[];
  } catch (error) {
    if (loan.lost || endsConnection(error)) throw lostBy(loan.lost ?? error);
    throw error;
  }
}

function endsConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && CONNECTION_CODES.test(error.code ?? '');
}

/** An attempt at several addresses fails with an empty message, but with a code. */
function lostBy(cause: unknown): DatabaseLostError {
  const { message, code } = toError(cause);
  return new DatabaseLostError(`The database cannot be reached: ${message || code}`, { cause });
}

function toError(thrown: unknown): NodeJS.ErrnoException {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
