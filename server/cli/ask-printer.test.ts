import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RecordDetail } from '../../contract/chat.ts';
import { AskPrinter } from './ask-printer.ts';

/** Clears the screen, rewrites the line, sets the window's title, and a one-character CSI of C1. */
const ATTACK = '\u001b[2J\r\u001b]0;owned\u0007\u009b31m\u0000\u007f';
const LEFT = '[2J]0;owned31m';

// The printer reads these fields only.
const record = {
  answer_text: `answer${ATTACK}`,
  citations: [
    {
      n: 1,
      document: `document${ATTACK}`,
      title: `title${ATTACK}`,
      quote: `quote${ATTACK}`,
      verified: false,
      reason: `reason${ATTACK}`,
    },
  ],
  agent_trace: [
    {
      round: 1,
      queries: [`query${ATTACK}`],
      new_paragraph_ids: ['p'],
      total_evidence: 1,
      sufficient: false,
      missing: `missing${ATTACK}`,
      next_queries: [],
    },
  ],
  agent_stop_reason: 'max_rounds',
  context_info: null,
  state: 'done',
} as unknown as RecordDetail;

let printed: string;

beforeEach(() => {
  printed = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

function printAll(json: boolean): void {
  const printer = new AskPrinter({ language: 'en', json });
  printer.event({ kind: 'status', status: { phase: 'retrieving', round: 1, queries: [`query${ATTACK}`] } });
  printer.event({
    kind: 'status',
    status: { phase: 'assessed', round: 1, sufficient: false, missing: `missing${ATTACK}` },
  });
  printer.event({ kind: 'answer-delta', content: `first\n\tsecond${ATTACK}`, reasoningContent: '' });
  printer.event({ kind: 'answer-failed', error: { code: 'unavailable', message: `failure${ATTACK}` } });
  printer.record(record);
}

describe('AskPrinter', () => {
  it('prints nothing a document or a model could command the terminal with', () => {
    printAll(false);

    expect(printed).not.toMatch(/[^\P{Cc}\n\t]/u);
    for (const what of ['query', 'missing', 'document', 'title', 'quote', 'reason', 'failure']) {
      // Where text is set on one line, a carriage return has become a space.
      expect(printed.replaceAll(' ', '')).toContain(`${what}${LEFT}`);
    }
    expect(printed).toContain('first\n\tsecond');
  });

  it('keeps every character with --json, escaped', () => {
    printAll(true);

    const [json = ''] = printed.split('\n').filter((line) => line.startsWith('{'));
    expect(printed).not.toMatch(/[^\P{Cc}\n\t]/u);
    expect(JSON.parse(json)).toMatchObject({ answer: record.answer_text, citations: record.citations });
  });
});
