import { describeFailure } from '../chat/describe-failure.ts';
import { printable } from './printable.ts';

const FOLDER_CODES = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'ENOSPC']);

/** An error in one line or list for the person at the terminal, safe to print; never a stack. */
export function explain(error: unknown): string {
  return printable(wordsOf(error));
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ECONNREFUSED') return `nothing answers at the other end (${error.message}).`;
  if (code === 'EADDRINUSE') return 'the port is taken by another program; set kb.http.port to a free one.';
  if (code !== undefined && FOLDER_CODES.has(code))
    return `${error.message}; check kb.data.dir and who may write there.`;
  if (error instanceof DOMException && error.name === 'AbortError') return 'interrupted.';
  if (error instanceof DOMException) return describeFailure(error).message;
  return error.message;
}
