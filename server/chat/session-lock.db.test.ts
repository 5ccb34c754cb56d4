import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import { ApplicationStore } from '../applications/application-store.ts';
import type { Database } from '../database/database.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { FINISHED, LAST_EVENTS, startRecord } from '../testing/stored-rounds.ts';
import { ChatStore } from './chat-store.ts';
import { ContextStore } from './context/context-store.ts';
import { EventStore } from './event-store.ts';
import { LeaseSessionLock } from './lease-session-lock.ts';
import { LeaseStore } from './lease-store.ts';
import { InProcessSessionLock, LeaseLostError, type SessionLock } from './session-lock.ts';

const log = pino({ level: 'silent' });
const DEFAULT_TTL_MS = 8000;
const QUICK = { ttlMs: 1500, beatMs: 60 };

async function aborted(signal: AbortSignal, withinMs: number): Promise<unknown> {
  const deadline = performance.now() + withinMs;
  while (!signal.aborted && performance.now() < deadline) await setTimeout(5);
  return signal.aborted ? signal.reason : 'not aborted';
}

describeOnDatabases('the lock of a conversation', (open) => {
  let database: Database;
  let chats: ChatStore;
  let applicationId: string;

  beforeAll(async () => {
    database = await open();
    chats = new ChatStore(database);
    applicationId = await new ApplicationStore(database).ensureBuiltIn({ kind: 'all', name: 'all' });
  });

  const newChat = () => chats.insertChat({ applicationId, clientId: LOCAL_USER_ID, expireMinutes: 30 });
  const leaseLock = (timings = QUICK) => new LeaseSessionLock(new LeaseStore(database), { log, timings });

  // `other`: a second lock for the same conversations, as another part of the program or another server has it.
  const forms: [string, () => { lock: SessionLock; other: SessionLock }][] = [
    [
      'in the process',
      () => {
        const lock = new InProcessSessionLock();
        return { lock, other: lock };
      },
    ],
    ['by lease', () => ({ lock: leaseLock(), other: leaseLock() })],
  ];

  describe.each(forms)('%s', (_name, create) => {
    it('R65 is held by one, and free after its release', async () => {
      const { lock, other } = create();
      const chatId = await newChat();

      const lease = await lock.tryAcquire(chatId);
      expect(lease).not.toBeNull();
      expect(await other.tryAcquire(chatId)).toBeNull();
      expect(await other.holderOf(chatId)).not.toBeNull();
      await lease?.release();

      expect(await other.holderOf(chatId)).toBeNull();
      const next = await other.tryAcquire(chatId);
      expect(next).not.toBeNull();
      await next?.release();
    });

    it('R65 lets one of fifty at once through, and other conversations alone', async () => {
      const { lock, other } = create();
      const [chatId, another] = [await newChat(), await newChat()];

      const tries = Array.from({ length: 50 }, (_, index) => (index % 2 ? lock : other).tryAcquire(chatId));
      const leases = (await Promise.all(tries)).filter((lease) => lease !== null);
      const elsewhere = await lock.tryAcquire(another);

      expect(leases).toHaveLength(1);
      expect(elsewhere).not.toBeNull();
      for (const lease of [...leases, elsewhere]) await lease?.release();
    });

    it('a second release does not free the next holder', async () => {
      const { lock, other } = create();
      const chatId = await newChat();
      const first = await lock.tryAcquire(chatId);
      await first?.release();
      const second = await other.tryAcquire(chatId);

      await first?.release();

      expect(await lock.tryAcquire(chatId)).toBeNull();
      await second?.release();
    });

    it('brings a stop to the holder within a second, and none to the next', async () => {
      const { lock, other } = create();
      const chatId = await newChat();
      const lease = await lock.tryAcquire(chatId);
      if (!lease) throw new Error('no lease');

      expect(await other.requestStop(chatId)).toBe(await lock.holderOf(chatId));
      expect(await aborted(lease.signal, 1000)).toMatchObject({ name: 'AbortError' });
      await lease.release();

      expect(await other.requestStop(chatId)).toBeNull();
      const next = await other.tryAcquire(chatId);
      await setTimeout(QUICK.beatMs * 3);
      expect(next?.signal.aborted).toBe(false);
      await next?.release();
    });

    it('is kept for longer than a lease lives while its holder lives', async () => {
      const { lock, other } = create();
      const chatId = await newChat();
      const lease = await lock.tryAcquire(chatId);

      await setTimeout(QUICK.ttlMs * 1.5);

      expect(lease?.signal.aborted).toBe(false);
      expect(await other.tryAcquire(chatId)).toBeNull();
      await lease?.release();
    });
  });

  describe('by lease', () => {
    /** A holder that died: it took the lease and never renews it. */
    async function die(chatId: string, ttlMs: number): Promise<number> {
      const fence = await new LeaseStore(database).take(chatId, { owner: LOCAL_USER_ID, ttlMs });
      if (fence === null) throw new Error('held');
      return fence;
    }

    it('R67 is free again after the time of a lease, with a higher fence', async () => {
      const chatId = await newChat();
      const fence = await die(chatId, 1000);
      expect(await leaseLock().tryAcquire(chatId)).toBeNull();

      await setTimeout(1050);
      const lease = await leaseLock().tryAcquire(chatId);

      expect(lease?.fence).toBeGreaterThan(fence);
      await lease?.release();
    });

    it('R67 asks for less than 10 s by default', async () => {
      const chatId = await newChat();
      const lease = await new LeaseSessionLock(new LeaseStore(database), { log }).tryAcquire(chatId);

      const [row] = await database.query<{ ms: number }>(
        `select extract(epoch from expire_time - clock_timestamp()) * 1000 as ms from max_kb_chat_lease where chat_id = $1`,
        [chatId],
      );

      expect(row?.ms).toBeLessThanOrEqual(DEFAULT_TTL_MS);
      expect(row?.ms).toBeGreaterThan(DEFAULT_TTL_MS / 2);
      await lease?.release();
    });

    it('R67 a holder that lost its lease hears of it and can no longer write', async () => {
      const chatId = await newChat();
      const contexts = new ContextStore(database);
      const stale = await leaseLock().tryAcquire(chatId);
      if (!stale) throw new Error('no lease');
      const recordId = await startRecord(chats, chatId, { question: 'q' });
      // As if this process had slept: the lease ran out and another server took it.
      await database.query(`update max_kb_chat_lease set expire_time = '-infinity' where chat_id = $1`, [chatId]);
      const next = await die(chatId, 5000);

      expect(await aborted(stale.signal, 1000)).toBeInstanceOf(LeaseLostError);
      const written = { fence: stale.fence, lastEvents: LAST_EVENTS };
      expect(await chats.finishRecord(recordId, FINISHED, written)).toBe(false);
      const merge = { chatId, revision: 0, summary: 's', summaryTokens: 1, through: { recordId, index: 1 }, rounds: 1 };
      expect(await contexts.saveMerge({ ...merge, fence: stale.fence })).toBeNull();
      await stale.release();
      expect(await leaseLock().tryAcquire(chatId)).toBeNull();

      expect(await chats.finishRecord(recordId, FINISHED, { fence: next, lastEvents: LAST_EVENTS })).toBe(true);
      expect(await contexts.saveMerge({ ...merge, fence: next })).toMatchObject({ revision: 1 });
    });

    it('R67 gives up before the lease can be anybody else\u2019s when the database is away', async () => {
      const chatId = await newChat();
      const store = new LeaseStore(database);
      store.renew = () => new Promise(() => {});
      const lock = new LeaseSessionLock(store, { log, timings: QUICK });
      const askedMs = performance.now();

      const lease = await lock.tryAcquire(chatId);
      if (!lease) throw new Error('no lease');
      expect(await aborted(lease.signal, 4000)).toBeInstanceOf(LeaseLostError);

      // Timers of the machine are late by some ms at most; never early.
      expect(performance.now() - askedMs).toBeGreaterThanOrEqual(QUICK.ttlMs - 2);
      expect(performance.now() - askedMs).toBeLessThan(QUICK.ttlMs + 2000);
    });

    it('R67 outlives a database that fails for a moment', async () => {
      const chatId = await newChat();
      const store = new LeaseStore(database);
      const { renew } = LeaseStore.prototype;
      let failures = 2;
      store.renew = (...given) =>
        failures-- > 0 ? Promise.reject(new Error('connection lost')) : renew.apply(store, given);

      const lease = await new LeaseSessionLock(store, { log, timings: QUICK }).tryAcquire(chatId);
      await setTimeout(QUICK.ttlMs * 1.3);

      expect(failures).toBeLessThanOrEqual(0);
      expect(lease?.signal.aborted).toBe(false);
      await lease?.release();
    });

    it('R66 R67 stays free when a renewal comes late, after its release or its loss', async () => {
      const chatId = await newChat();
      const store = new LeaseStore(database);
      const { renew } = LeaseStore.prototype;
      store.renew = async (...given) => {
        await setTimeout(300);
        return renew.apply(store, given);
      };
      const lease = await new LeaseSessionLock(store, { log, timings: QUICK }).tryAcquire(chatId);
      await setTimeout(QUICK.beatMs * 2);

      await lease?.release();
      await setTimeout(500);
      expect(await leaseLock().holderOf(chatId)).toBeNull();

      const lost = await new LeaseSessionLock(store, { log, timings: { ttlMs: 150, beatMs: 20 } }).tryAcquire(chatId);
      if (!lost) throw new Error('no lease');
      expect(await aborted(lost.signal, 2000)).toBeInstanceOf(LeaseLostError);
      await setTimeout(400);
      await lost.release();
      expect(await leaseLock().holderOf(chatId)).toBeNull();
    });

    it('R67 a holder that was held up starts nothing and ends nothing of the next', async () => {
      const chatId = await newChat();
      const events = new EventStore(database);
      const stale = await die(chatId, 1);
      const first = await startRecord(chats, chatId, { fence: stale });
      await setTimeout(20);
      const next = await die(chatId, 5000);
      const second = await startRecord(chats, chatId, { fence: next });

      const late = await chats.insertRecord({ chatId, question: 'late', questionTokens: 1, fence: stale });
      await chats.failRecord(second, { fence: stale, lastEvents: LAST_EVENTS });
      await events.append(first, LAST_EVENTS);

      expect(late).toBeNull();
      expect(await chats.findRecordState(first)).toBe('interrupted');
      expect(await chats.findRecordState(second)).toBe('running');
      expect(await events.hasAny(first)).toBe(false);
      expect(await chats.finishRecord(second, FINISHED, { fence: next, lastEvents: LAST_EVENTS })).toBe(true);
    });

    it('does not hold a conversation that is gone', async () => {
      expect(await leaseLock().tryAcquire('0190a000-0000-7000-8000-00000000dead')).toBeNull();
    });
  });
});
