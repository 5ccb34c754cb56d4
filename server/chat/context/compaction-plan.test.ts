import { describe, expect, it } from 'vitest';
import { countTokens } from '../../models/tokens.ts';
import { summariseMessage, systemPrompt } from '../agent/prompts.ts';
import { CLIP_MARKER, clipRound, fitRound } from './clip-round.ts';
import { planCompaction } from './compaction-plan.ts';
import { type RoundSize, summaryAllowance } from './window.ts';

const round = (index: number, questionTokens: number, answerTokens: number): RoundSize => ({
  recordId: String(index),
  index,
  questionTokens,
  answerTokens,
  tokens: questionTokens + answerTokens,
});
const DEFAULTS = { recentTokens: 6000, contextTokens: 32_768 };
const many = (count: number, question: number, answer: number) =>
  Array.from({ length: count }, (_, place) => round(place + 1, question, answer));

describe('planCompaction', () => {
  it('R54 makes no batch where nothing is older', () => {
    expect(planCompaction([], DEFAULTS).batches).toEqual([]);
  });

  it('R46 takes at most 20 rounds and 6000 tokens a batch, in order and each round once', () => {
    const short = planCompaction(many(45, 10, 20), DEFAULTS).batches;
    const long = planCompaction(many(30, 100, 1100), DEFAULTS).batches;

    expect(short.map((batch) => batch.length)).toEqual([20, 20, 5]);
    for (const batch of long) expect(batch.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(6000);
    expect(long.flat().map(({ index }) => index)).toEqual(many(30, 1, 1).map(({ index }) => index));
  });

  it('R46 counts a long message as what it is clipped to', () => {
    const { batches, limits } = planCompaction([round(1, 50_000, 90_000), round(2, 100, 100)], DEFAULTS);

    expect(limits).toEqual({ questionTokens: 2000, answerTokens: 3500 });
    expect(batches.map((batch) => batch.length)).toEqual([2]);
  });

  it('never makes a request over the context, whatever the settings and however long the history', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const words = ['预算', '是', '95', '万元，', 'the ', 'deadline ', 'moved ', '👩‍👩‍👧‍👦', 'é', '\n', '<user>', '。'];
    const text = (tokens: number) => {
      const pieces: string[] = [];
      for (let count = 0; count < tokens; ) {
        const piece = Array.from({ length: 40 }, () => words[random(12)]).join('');
        pieces.push(piece);
        count += countTokens(piece);
      }
      return pieces.join('');
    };

    for (let run = 0; run < 12; run += 1) {
      const recentTokens = [512, 1000, 6000, 16_000][run % 4] ?? 0;
      const contextTokens = run < 6 ? 8192 : 8192 + random(8000);
      const rounds = Array.from({ length: 1 + random(24) }, () => ({
        question: text(random(run % 3 === 0 ? 6000 : 120)),
        answer: text(random(run % 3 === 1 ? 9000 : 300)),
      }));
      const sizes = rounds.map(({ question, answer }, place) =>
        round(place, countTokens(question), countTokens(answer)),
      );
      const maxTokens = summaryAllowance(recentTokens);
      const summary = clipRound(
        { question: text(maxTokens), answer: '' },
        { questionTokens: maxTokens, answerTokens: 9 },
      );

      const { batches, limits } = planCompaction(sizes, { recentTokens, contextTokens });

      for (const batch of batches) {
        const clipped = batch.map(({ index }) => clipRound(rounds[index] ?? { question: '', answer: '' }, limits));
        const task = { kind: 'summarise', summary: summary.question, rounds: clipped, maxTokens } as const;
        const tokens = countTokens(systemPrompt('summarise')) + countTokens(summariseMessage(task)) + maxTokens;
        expect(tokens + 2 * 8).toBeLessThanOrEqual(contextTokens);
      }
    }
  });
});

describe('clipRound', () => {
  it.each([
    ['Han characters', '汉'.repeat(9000)],
    ['surrogate pairs', '𠮷'.repeat(4000)],
    ['combining marks', 'e\u0301\u0323'.repeat(4000)],
    ['joined emoji', '👩‍👩‍👧‍👦'.repeat(800)],
    ['one unbroken word', 'a'.repeat(40_000)],
  ])('R58 cuts %s between characters, with a visible marker', (_name, text) => {
    const { answer } = clipRound({ question: 'q', answer: text }, { questionTokens: 2000, answerTokens: 200 });

    const kept = answer.slice(0, -CLIP_MARKER.length);
    expect(answer.endsWith(CLIP_MARKER)).toBe(true);
    expect(countTokens(answer)).toBeLessThanOrEqual(200);
    expect(answer.isWellFormed()).toBe(true);
    const whole = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text.slice(0, kept.length + 40))];
    expect(whole.some(({ index }) => index === kept.length)).toBe(true);
  });
});

describe('fitRound', () => {
  it.each([
    [
      { questionTokens: 10, answerTokens: 9000 },
      { questionTokens: 10, answerTokens: 990 },
    ],
    [
      { questionTokens: 4000, answerTokens: 20 },
      { questionTokens: 980, answerTokens: 20 },
    ],
    [
      { questionTokens: 4000, answerTokens: 9000 },
      { questionTokens: 500, answerTokens: 500 },
    ],
  ])('R54 gives %o the limits %o in 1000 tokens', (size, limits) => {
    expect(fitRound(size, 1000)).toEqual(limits);
  });
});
