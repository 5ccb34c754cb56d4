import type { Database } from '../database/database.ts';

/** Leases of conversations, by the clock of the database alone. */
export class LeaseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Takes a lease that nobody holds. Returns its fence, or null where it is held or the chat is not there. */
  async take(chatId: string, { owner, ttlMs }: { owner: string; ttlMs: number }): Promise<number | null> {
    const [row] = await this.#database.query<{ fence: number }>(
      `insert into max_kb_chat_lease as lease (chat_id, owner, fence, expire_time)
       select id, $2, 1, clock_timestamp() + make_interval(secs => $3::float8 / 1000)
       from max_kb_application_chat where id = $1 and not is_deleted
       on conflict (chat_id) do update set owner = excluded.owner, fence = lease.fence + 1,
         expire_time = excluded.expire_time, stop_requested = false
       where lease.expire_time <= clock_timestamp()
       returning fence`,
      [chatId, owner, ttlMs],
    );
    return row?.fence ?? null;
  }

  /** Holds on for another `ttlMs`. Null where the lease was freed or somebody else has taken it. */
  async renew(
    chatId: string,
    { fence, ttlMs }: { fence: number; ttlMs: number },
  ): Promise<{ stopRequested: boolean } | null> {
    const [row] = await this.#database.query<{ stopRequested: boolean }>(
      `update max_kb_chat_lease set expire_time = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
       where chat_id = $1 and fence = $2 and expire_time > '-infinity' returning stop_requested as "stopRequested"`,
      [chatId, fence, ttlMs],
    );
    return row ?? null;
  }

  /** Lets go; the row stays, so that the next fence is higher. */
  async free(chatId: string, fence: number): Promise<void> {
    await this.#database.query(
      `update max_kb_chat_lease set expire_time = '-infinity' where chat_id = $1 and fence = $2`,
      [chatId, fence],
    );
  }

  /** Returns the fence of whoever was asked to stop; null where nobody holds the lease. */
  async requestStop(chatId: string): Promise<number | null> {
    const [row] = await this.#database.query<{ fence: number }>(
      `update max_kb_chat_lease set stop_requested = true
       where chat_id = $1 and expire_time > clock_timestamp() returning fence`,
      [chatId],
    );
    return row?.fence ?? null;
  }

  /** The fence of whoever holds the lease. */
  async findFence(chatId: string): Promise<number | null> {
    const [row] = await this.#database.query<{ fence: number }>(
      'select fence from max_kb_chat_lease where chat_id = $1 and expire_time > clock_timestamp()',
      [chatId],
    );
    return row?.fence ?? null;
  }
}
