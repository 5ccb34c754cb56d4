import { describe, expect, it } from 'vitest';
import { chooseWindow, type RoundSize } from './window.ts';

const rounds = (...tokens: number[]): RoundSize[] =>
  tokens.map((count, index) => ({
    recordId: String(index),
    index: index + 1,
    questionTokens: 1,
    answerTokens: count - 1,
    tokens: count,
  }));
const carriedIds = (window: { carried: RoundSize[] }) => window.carried.map((round) => round.recordId).join('');

describe('chooseWindow', () => {
  it('R69 carries nothing with history switched off', () => {
    expect(chooseWindow({ rounds: rounds(1, 1), summaryTokens: 50, dialogueNumber: 0, recentTokens: 6000 })).toEqual({
      carried: [],
      older: [],
      exceeded: false,
      tokens: 0,
    });
  });

  it.each([
    ['R49 R50 below the limit all rounds, more than dialogue_number', 999, 2, false, '012'],
    ['R51 exactly at the limit all rounds', 1000, 2, false, '012'],
    ['R51 one token over it the newest', 1001, 2, true, '12'],
  ])('%s', (_name, last, dialogueNumber, exceeded, ids) => {
    const window = chooseWindow({
      rounds: rounds(last - 200, 100, 100),
      summaryTokens: 0,
      dialogueNumber,
      recentTokens: 1000,
    });

    expect(window.exceeded).toBe(exceeded);
    expect(carriedIds(window)).toBe(ids);
  });

  it('R52 uses a larger dialogue_number as 20', () => {
    const window = chooseWindow({
      rounds: rounds(...Array(30).fill(100)),
      summaryTokens: 0,
      dialogueNumber: 1000,
      recentTokens: 2900,
    });

    expect(window.carried).toHaveLength(19);
    const generous = chooseWindow({
      rounds: rounds(...Array(600).fill(20)),
      summaryTokens: 0,
      dialogueNumber: 1000,
      recentTokens: 6000,
    });
    expect(generous.carried).toHaveLength(20);
  });

  it('R53 always keeps the latest round', () => {
    const window = chooseWindow({ rounds: rounds(10, 90_000), summaryTokens: 0, dialogueNumber: 5, recentTokens: 512 });

    expect(carriedIds(window)).toBe('1');
  });
});
