import { z } from 'zod';

/** What became of one file of a folder. `kept`: its earlier version is still used. */
export const fileOutcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('indexed'),
    path: z.string(),
    paragraphs: z.number(),
    characters: z.number(),
    warnings: z.array(z.string()),
  }),
  z.object({ kind: z.literal('unchanged'), path: z.string() }),
  z.object({ kind: z.literal('failed'), path: z.string(), message: z.string(), kept: z.boolean() }),
]);

const failure = z.object({ path: z.string(), message: z.string(), kept: z.boolean() });
const warning = z.object({ path: z.string(), message: z.string() });

/** How a folder was taken in: counts of files, and what went wrong with which. */
export const folderReport = z.object({
  datasetId: z.string(),
  folder: z.string(),
  files: z.number(),
  indexed: z.number(),
  unchanged: z.number(),
  removed: z.number(),
  paragraphs: z.number(),
  failures: z.array(failure),
  warnings: z.array(warning),
});

/** One line of `POST dataset/folder`, which answers with JSON lines while it works; the last is not `progress`. */
export const folderLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('progress'),
    progress: z.object({ done: z.number(), total: z.number(), outcome: fileOutcome }),
  }),
  z.object({ kind: z.literal('indexed'), result: z.object({ report: folderReport, applicationId: z.string() }) }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
]);
export type FolderLine = z.infer<typeof folderLine>;
