import { queryKey } from '../../text/query-key.ts';
import type { ModelTask } from '../chat-model.ts';
import { type ContentWords, coverParts } from './coverage.ts';
import { splitQuestion } from './question-parts.ts';
import { writtenTerms } from './written-terms.ts';

/** The verifier's reply as the protocol has it (R11). */
export interface OfflineVerdict {
  sufficient: boolean;
  missing: string;
  queries: string[];
}

/**
 * Judges each part of the question on its own. What no passage answers is missing, and is asked for by the
 * part's own terms; a part whose terms were searched already is asked once more with the question's subject.
 */
export function assessOffline(task: Extract<ModelTask, { kind: 'assess' }>, words: ContentWords): OfflineVerdict {
  const parts = splitQuestion(task.question);
  const open = coverParts({ question: task.question, parts, passages: task.passages }, words)
    .filter((coverage) => !coverage.covered)
    .map((coverage) => coverage.part);
  if (open.length === 0 && parts.length > 0) return { sufficient: true, missing: '', queries: [] };
  const searched = new Set(task.searchedQueries.map(queryKey));
  const queries = open.flatMap((part) => nextQuery(part, { task, searched, words }) ?? []);
  return { sufficient: false, missing: open.join('\n'), queries: queries.slice(0, 2) };
}

function nextQuery(
  part: string,
  { task, searched, words }: { task: { question: string }; searched: ReadonlySet<string>; words: ContentWords },
): string | null {
  const own = writtenTerms(part, words);
  const subject = writtenTerms(task.question, words).slice(0, 2);
  const queries = [own.join(' '), part, [...new Set([...subject, ...own])].join(' ')];
  return queries.find((query) => query !== '' && !searched.has(queryKey(query))) ?? null;
}
