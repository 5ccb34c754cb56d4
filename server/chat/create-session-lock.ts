import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { LeaseSessionLock, type LeaseTimings } from './lease-session-lock.ts';
import { LeaseStore } from './lease-store.ts';
import { InProcessSessionLock, type SessionLock } from './session-lock.ts';

/** The embedded database has one process; a PostgreSQL may have many, and each must know of the others' answers (R67). */
export function createSessionLock(database: Database, options: { log: Logger; timings?: LeaseTimings }): SessionLock {
  if (database.engine === 'pglite') return new InProcessSessionLock();
  return new LeaseSessionLock(new LeaseStore(database), options);
}
