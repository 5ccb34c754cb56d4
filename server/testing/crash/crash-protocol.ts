import { z } from 'zod';

/** A conversation that a child made before it was killed, and what it had said of it until then. */
export const plantedChat = z.object({
  chatId: z.string(),
  /** Rounds stored before the work began. */
  rounds: z.number().int(),
  /** The record of the question that was accepted, if it was. */
  recordId: z.string().nullable(),
  /** The last revision that a merge was confirmed with; 0 for none. */
  revision: z.number().int(),
  /** Whether the end of the answer was told. */
  hasEnded: z.boolean(),
});
export type PlantedChat = z.infer<typeof plantedChat>;

/** Asking a question that needs a compaction first, or compacting by hand. */
export const crashWork = z.enum(['answer', 'compact']);
export type CrashWork = z.infer<typeof crashWork>;

/** What a child does: it checks what earlier ones left, then works, each time on a new conversation, and is killed. */
export const childOrder = z.object({
  location: z.union([z.object({ url: z.string() }), z.object({ dataDir: z.string() })]),
  verify: z.array(plantedChat),
  work: z.array(crashWork),
  /** Kill yourself at this await of the work, counted from 1; null to leave that to the parent, or to nobody. */
  killAt: z.number().int().nullable(),
});
export type ChildOrder = z.infer<typeof childOrder>;

/** A line of a child's standard output. What was said before the kill has arrived: pipes are written synchronously. */
export const childLine = z.discriminatedUnion('say', [
  z.object({ say: z.literal('verified'), chatId: z.string(), problems: z.array(z.string()) }),
  z.object({ say: z.literal('planted'), chatId: z.string(), rounds: z.number().int() }),
  z.object({ say: z.literal('accepted'), recordId: z.string() }),
  z.object({ say: z.literal('merged'), revision: z.number().int() }),
  z.object({ say: z.literal('ended') }),
  z.object({ say: z.literal('done'), work: crashWork, awaits: z.number().int() }),
]);
export type ChildLine = z.infer<typeof childLine>;
