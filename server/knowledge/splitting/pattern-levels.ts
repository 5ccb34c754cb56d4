import { createContext, Script } from 'node:vm';
import { safeCut } from './cut-text.ts';
import type { HeadingLevel, HeadingMatch } from './heading-tree.ts';
import { SplitPatternError } from './split-pattern-error.ts';
import { splitPatterns } from './split-patterns.ts';

/** MaxKB keeps at most this many characters of a match as heading; the rest stays in the content. */
const maxHeadingLength = 255;

/**
 * All user patterns of one document together may run this long. A pattern that backtracks without end would otherwise
 * stop the process: V8 checks for termination while it backtracks, so the time limit of node:vm does end it (measured:
 * `(a+)+$` on 40 characters stops after 203 ms with a limit of 200). The offered patterns are linear and need no guard.
 */
const patternBudgetMs = 2000;

const maxPatternLength = 1000;
const maxPatterns = 32;

const offeredPatterns = new Set(splitPatterns.map((pattern) => pattern.value));
const findAll = new Script('Array.from(text.matchAll(pattern), (match) => [match.index, match[0].length])');

/**
 * Turns regular expressions into heading levels, first pattern outermost. Strings are compiled without flags.
 * The levels share one time budget of 2 s of matching. Throws SplitPatternError `invalid_pattern` now when a pattern
 * does not compile, is longer than 1,000 characters or is the 33rd; the levels throw `slow_pattern` when the budget is used up.
 */
export function levelsFromPatterns(patterns: readonly (string | RegExp)[]): HeadingLevel[] {
  if (patterns.length > maxPatterns) {
    throw new SplitPatternError('invalid_pattern', '', `at most ${maxPatterns} split patterns, got ${patterns.length}`);
  }
  const guard = createGuard();
  return patterns.map((pattern) => {
    const regex = compile(pattern);
    const find = offeredPatterns.has(regex.source) ? findUnguarded : guard;
    return ({ text }) => toHeadings(text, find(text, regex));
  });
}

type Find = (text: string, pattern: RegExp) => [index: number, length: number][];

const findUnguarded: Find = (text, pattern) =>
  Array.from(text.matchAll(pattern), (match) => [match.index, match[0].length]);

function createGuard(): Find {
  const sandbox: { text: string; pattern: RegExp | null } = { text: '', pattern: null };
  const context = createContext(sandbox);
  let remainingMs = patternBudgetMs;
  return (text, pattern) => {
    const startedAt = performance.now();
    sandbox.text = text;
    sandbox.pattern = pattern;
    try {
      // The script is ours and returns pairs of numbers; vm is used only for its time limit.
      return findAll.runInContext(context, { timeout: Math.max(1, Math.ceil(remainingMs)) }) as ReturnType<Find>;
    } catch (cause) {
      const message = `the split pattern ${pattern.source} takes longer than ${patternBudgetMs} ms on this document`;
      throw new SplitPatternError('slow_pattern', pattern.source, message, cause);
    } finally {
      remainingMs -= performance.now() - startedAt;
    }
  };
}

function compile(pattern: string | RegExp): RegExp {
  const source = typeof pattern === 'string' ? pattern : pattern.source;
  if (source.length > maxPatternLength) {
    const message = `a split pattern may have ${maxPatternLength} characters, got ${source.length}`;
    throw new SplitPatternError('invalid_pattern', source, message);
  }
  try {
    const flags = typeof pattern === 'string' ? '' : pattern.flags.replace(/[gy]/g, '');
    return new RegExp(source, `${flags}g`);
  } catch (cause) {
    throw new SplitPatternError('invalid_pattern', source, `not a valid regular expression: ${source}`, cause);
  }
}

function toHeadings(text: string, found: ReturnType<Find>): HeadingMatch[] {
  return found
    .filter(([, length]) => length > 0)
    .map(([start, length]) => {
      const end = length <= maxHeadingLength ? start + length : safeCut(text, start + maxHeadingLength);
      return { start, end };
    });
}
