export type DatabaseEngine = 'pglite' | 'postgresql';

/**
 * One PostgreSQL, embedded or remote. Inside `transaction` every `query` made from the callback (also
 * deep below it) runs in that transaction; nested transactions join the outer one.
 */
export interface Database {
  readonly engine: DatabaseEngine;
  /**
   * Runs one statement with `$1…` parameters. Returns its rows. int8 and numeric arrive as numbers. Throws
   * DatabaseLostError where there is no connection, and what the server says of the statement.
   */
  query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Commits when `work` resolves, rolls back when it rejects. Never await a model or a parse inside. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
