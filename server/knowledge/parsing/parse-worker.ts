import { parentPort } from 'node:worker_threads';
import { ParseError } from './parse-error.ts';
import type { PreparedDocument } from './prepare-document.ts';
import { prepareDocument } from './prepare-document.ts';

export interface ParseJob {
  name: string;
  bytes: Uint8Array;
}

export type ParseOutcome =
  | { kind: 'prepared'; document: PreparedDocument }
  | { kind: 'failed'; code: ParseError['code'] | 'internal_error'; message: string };

parentPort?.on('message', async (job: ParseJob) => {
  parentPort?.postMessage(await outcomeOf(job));
});

async function outcomeOf(job: ParseJob): Promise<ParseOutcome> {
  try {
    return { kind: 'prepared', document: await prepareDocument(job) };
  } catch (error) {
    if (error instanceof ParseError) return { kind: 'failed', code: error.code, message: error.message };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', code: 'internal_error', message: `The parser failed: ${message}` };
  }
}
