import { describe, expect, it } from 'vitest';
import { countTokens } from '../../models/tokens.ts';
import { type CostedPassage, fitRequest, type RequestParts } from './request-budget.ts';

const passage = (n: number, rank: number, tokens: number): CostedPassage => ({
  n,
  rank,
  tokens,
  document: 'd',
  title: 't',
  content: `passage ${n}`,
});

function fit(changes: Partial<RequestParts>, limits = { contextTokens: 32_768, maxTokens: 2048 }) {
  return fitRequest(
    {
      system: 'system',
      summary: null,
      rounds: [],
      passages: [],
      user: (passages) => `${passages.map(({ n }) => n).join()} QUESTION`,
      fixedUserTokens: 100,
      ...changes,
    },
    limits,
  );
}

describe('fitRequest', () => {
  it('keeps everything that fits, the question last', () => {
    const { messages, droppedPassages } = fit({
      passages: [passage(1, 1, 500), passage(2, 2, 500)],
      rounds: [{ question: 'q', answer: 'a', tokens: 10 }],
    });

    expect(messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages.at(-1)?.content).toBe('1,2 QUESTION');
    expect(droppedPassages).toEqual([]);
  });

  it('R41 clips whole passages, the lowest ranked first, and keeps their numbers', () => {
    const passages = [passage(1, 1, 9000), passage(2, 5, 9000), passage(3, 1, 9000), passage(4, 2, 9000)];
    const { messages, droppedPassages } = fit({ passages });

    expect(droppedPassages).toEqual([2]);
    expect(messages.at(-1)?.content).toBe('1,3,4 QUESTION');
  });

  it('R41 bounds the user message at 28,000 tokens even where the context is larger', () => {
    const passages = Array.from({ length: 40 }, (_, index) => passage(index + 1, index + 1, 1000));
    const { passages: kept } = fit({ passages }, { contextTokens: 200_000, maxTokens: 2048 });

    expect(kept).toHaveLength(27);
  });

  it('R41 clips history after evidence, the oldest first, and never the question', () => {
    const rounds = [1, 2, 3].map((n) => ({ question: `q${n}`, answer: `a${n}`, tokens: 3000 }));
    const { messages, droppedRounds, droppedPassages } = fit(
      { rounds, passages: [passage(1, 1, 500)], fixedUserTokens: 3000 },
      { contextTokens: 12_000, maxTokens: 2048 },
    );

    expect(droppedPassages).toEqual([1]);
    expect(droppedRounds).toBe(1);
    expect(messages[1]?.content).toBe('q2');
    expect(messages.at(-1)?.content).toContain('QUESTION');
  });

  it('R41 clips a system prompt at 4000 tokens with a visible marker', () => {
    const { messages } = fit({ system: '规则。'.repeat(5000) });

    expect(countTokens(messages[0]?.content ?? '')).toBeLessThanOrEqual(4000);
    expect(messages[0]?.content).toContain('clipped');
  });
});
