import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentStatus } from '../../../contract/chat.ts';
import { buildHit } from '../../testing/search-hits.ts';
import type { SearchHit } from './evidence.ts';
import { type GatherRequest, gatherEvidence } from './gather-evidence.ts';
import { parseVerdict } from './parse-verdict.ts';
import type { Verdict } from './stop-rules.ts';

const insufficient = (...queries: string[]): Verdict => ({
  kind: 'judged',
  sufficient: false,
  missing: 'the other part',
  queries,
});
const sufficient: Verdict = { kind: 'judged', sufficient: true, missing: '', queries: [] };

/** Runs the loop with one verdict a round (the last one repeats) and results by query. */
async function gather(
  script: { verdicts: Verdict[]; results?: Record<string, SearchHit[]>; found?: (query: string) => SearchHit[] },
  changes: Partial<GatherRequest> = {},
) {
  const searched: string[] = [];
  const statuses: AgentStatus[] = [];
  let assessed = 0;
  const gathered = await gatherEvidence(
    {
      question: 'A and B?',
      hasDatasets: true,
      maxRounds: 3,
      limits: { maxTokens: 16_000, maxParagraphs: 40 },
      signal: new AbortController().signal,
      ...changes,
    },
    {
      search: async (query) => {
        searched.push(query);
        return script.found?.(query) ?? script.results?.[query] ?? [buildHit({ paragraphId: `about ${query}` })];
      },
      assess: async () => {
        const verdict = script.verdicts[Math.min(assessed, script.verdicts.length - 1)];
        assessed += 1;
        return verdict ?? sufficient;
      },
      onRound: () => {},
      emit: (status) => {
        statuses.push(status);
      },
    },
  );
  return { ...gathered, searched, statuses, assessed };
}

describe('gatherEvidence', () => {
  it('R9 R25 searches again for what is missing and stops when it is found', async () => {
    const { stopReason, searched, trace, evidence, gap } = await gather({ verdicts: [insufficient('B'), sufficient] });

    expect(stopReason).toBe('sufficient');
    expect(searched).toEqual(['A and B?', 'B']);
    expect(evidence.map((paragraph) => paragraph.n)).toEqual([1, 2]);
    expect(trace).toEqual([
      {
        round: 1,
        queries: ['A and B?'],
        new_paragraph_ids: ['about A and B?'],
        total_evidence: 1,
        sufficient: false,
        missing: 'the other part',
        next_queries: ['B'],
      },
      {
        round: 2,
        queries: ['B'],
        new_paragraph_ids: ['about B'],
        total_evidence: 2,
        sufficient: true,
        missing: '',
        next_queries: [],
      },
    ]);
    expect(gap).toBe('');
  });

  it('R76 tells the phases in order', async () => {
    const { statuses } = await gather({ verdicts: [insufficient('B'), sufficient] });

    expect(statuses).toEqual([
      { phase: 'retrieving', round: 1, queries: ['A and B?'] },
      { phase: 'assessed', round: 1, sufficient: false, missing: 'the other part' },
      { phase: 'retrieving', round: 2, queries: ['B'] },
      { phase: 'assessed', round: 2, sufficient: true, missing: '' },
    ]);
  });

  it('R26 stops at the round limit', async () => {
    const { stopReason, trace } = await gather(
      {
        verdicts: [1, 2, 3, 4, 5, 6, 7].map((n) => insufficient(`query ${n}`)),
        found: (query) => [buildHit({ paragraphId: query })],
      },
      { maxRounds: 3 },
    );

    expect(stopReason).toBe('max_rounds');
    expect(trace).toHaveLength(3);
  });

  it.each(['Ａ  and b？', 'a, AND "B"', 'A AND B'])(
    'R27 takes %j for a repeat and does not search again',
    async (query) => {
      const { stopReason, searched, trace } = await gather({ verdicts: [insufficient(query)] });

      expect(stopReason).toBe('duplicate_query');
      expect(searched).toHaveLength(1);
      expect(trace[0]?.next_queries).toEqual([query]);
    },
  );

  it('R27 goes on with the query that is new', async () => {
    const { searched } = await gather({ verdicts: [insufficient('a and b', 'C'), sufficient] });

    expect(searched).toEqual(['A and B?', 'C']);
  });

  it('R28 stops when a later round brings nothing new, after judging it', async () => {
    const same = [buildHit({ paragraphId: 'one' })];
    const { stopReason, assessed } = await gather({
      verdicts: [insufficient('B'), insufficient('C')],
      found: () => same,
    });

    expect(stopReason).toBe('no_new_evidence');
    expect(assessed).toBe(2);
  });

  it('R28 lets an empty first round follow up, and a sufficient verdict win over nothing new', async () => {
    const hit = [buildHit({ paragraphId: 'one' })];
    const empty = await gather({
      verdicts: [insufficient('B'), sufficient],
      found: (query) => (query === 'B' ? hit : []),
    });
    const late = await gather({ verdicts: [insufficient('B'), sufficient], found: () => hit });

    expect(empty.stopReason).toBe('sufficient');
    expect(late.stopReason).toBe('sufficient');
  });

  it('R29 R36 stops when a hit does not fit the token limit, and keeps what fitted', async () => {
    const big = (id: string) => buildHit({ paragraphId: id, tokenCount: 600 });
    const { stopReason, evidence, assessed } = await gather(
      { verdicts: [insufficient('B')], found: () => [big('one'), big('two')] },
      { limits: { maxTokens: 1000, maxParagraphs: 40 } },
    );

    expect(stopReason).toBe('evidence_budget');
    expect(evidence.map((paragraph) => paragraph.paragraphId)).toEqual(['one']);
    expect(assessed).toBe(1);
  });

  it('R29 lets a sufficient verdict win over the budget', async () => {
    const many = Array.from({ length: 50 }, (_, index) => buildHit({ paragraphId: String(index) }));
    const { stopReason, evidence } = await gather({ verdicts: [sufficient], found: () => many });

    expect(stopReason).toBe('sufficient');
    expect(evidence).toHaveLength(40);
  });

  it('R39 keeps at most 40 paragraphs', async () => {
    const many = Array.from({ length: 41 }, (_, index) => buildHit({ paragraphId: String(index) }));
    const { stopReason, evidence } = await gather({ verdicts: [insufficient('B')], found: () => many });

    expect(stopReason).toBe('evidence_budget');
    expect(evidence).toHaveLength(40);
  });

  it('R30 stops when the verifier asks nothing', async () => {
    expect((await gather({ verdicts: [insufficient()] })).stopReason).toBe('no_followup_query');
  });

  it('R31 R32 stops when the verification fails, and is never sufficient', async () => {
    const { stopReason, trace, gap } = await gather({ verdicts: [{ kind: 'failed', why: 'timeout' }] });

    expect(stopReason).toBe('assessment_error');
    expect(trace.at(-1)?.sufficient).toBe(false);
    expect(gap).toBe('A and B?');
  });

  it('R42 never takes empty evidence for sufficient', async () => {
    const { stopReason, trace } = await gather({ verdicts: [sufficient], found: () => [] });

    expect(stopReason).toBe('no_followup_query');
    expect(trace[0]?.sufficient).toBe(false);
  });

  it('R43 neither searches nor verifies without a dataset', async () => {
    const { stopReason, searched, assessed, trace, gap } = await gather(
      { verdicts: [sufficient] },
      { hasDatasets: false },
    );

    expect({ stopReason, searched, assessed, trace, gap }).toEqual({
      stopReason: 'no_datasets',
      searched: [],
      assessed: 0,
      trace: [],
      gap: 'A and B?',
    });
  });

  it('R13 searches at most two queries a round', async () => {
    const { searched } = await gather({ verdicts: [insufficient('B', 'C', 'D'), sufficient] });

    expect(searched).toEqual(['A and B?', 'B', 'C']);
  });

  it('R14 counts a paragraph once however often it is found', async () => {
    const { evidence } = await gather({
      verdicts: [insufficient('B', 'C'), sufficient],
      found: (query) => [buildHit({ paragraphId: 'one' }), buildHit({ paragraphId: query })],
    });

    expect(evidence.map((paragraph) => paragraph.paragraphId)).toEqual(['one', 'A and B?', 'B', 'C']);
  });

  it('clips a single paragraph that alone is over the limit', async () => {
    const long = buildHit({ paragraphId: 'one', content: '复议 '.repeat(5000), tokenCount: 10_000 });
    const { evidence } = await gather(
      { verdicts: [sufficient], found: () => [long] },
      { limits: { maxTokens: 1000, maxParagraphs: 40 } },
    );

    expect(evidence).toHaveLength(1);
    expect(evidence[0]?.tokenCount).toBeLessThanOrEqual(1000);
    expect(evidence[0]?.content).toBe(long.content);
    expect(evidence[0]?.shownContent.length).toBeLessThan(long.content.length);
  });

  it('ends when it is aborted between two searches', async () => {
    const controller = new AbortController();
    const found = () => {
      controller.abort(new Error('gone'));
      return [];
    };
    const running = gather({ verdicts: [insufficient('B')], found }, { signal: controller.signal });

    await expect(running).rejects.toThrow('gone');
  });

  it('R86 always ends with a reason that agrees with the trace', async () => {
    const verdict = fc.oneof(
      fc.constant<Verdict>({ kind: 'failed', why: 'x' }),
      fc.record({
        kind: fc.constant('judged' as const),
        sufficient: fc.boolean(),
        missing: fc.string(),
        queries: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', ' ', '？'), { maxLength: 4 }),
      }),
    );
    const hits = fc.array(
      fc.integer({ min: 0, max: 60 }).map((id) => buildHit({ paragraphId: String(id), tokenCount: id * 40 })),
      { maxLength: 30 },
    );

    await fc.assert(
      fc.asyncProperty(
        fc.array(verdict, { minLength: 1, maxLength: 6 }),
        fc.array(hits, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 6 }),
        async (verdicts, lists, maxRounds) => {
          let search = 0;
          const { stopReason, trace, evidence, searched } = await gather(
            { verdicts, found: () => lists[search++ % lists.length] ?? [] },
            { maxRounds },
          );

          expect(stopReason === 'sufficient').toBe(trace.at(-1)?.sufficient === true);
          expect(trace.length).toBeLessThanOrEqual(maxRounds);
          expect(searched.length).toBeLessThanOrEqual(1 + 2 * (maxRounds - 1));
          expect(new Set(evidence.map((paragraph) => paragraph.paragraphId)).size).toBe(evidence.length);
          expect(trace.at(-1)?.total_evidence).toBe(evidence.length);
          if (stopReason === 'sufficient') expect(evidence.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('parseVerdict', () => {
  it.each([
    ['plain', '{"sufficient": true, "missing": "", "queries": []}'],
    ['fenced', '```json\n{"sufficient": true, "missing": "", "queries": []}\n```'],
    ['fenced without a language', '```\n{"sufficient": true, "missing": "", "queries": []}\n```'],
    ['in a fence after a sentence', 'Here is the result:\n```json\n{"sufficient": true}\n```\n'],
    ['after a think block', '<think>{"sufficient": false}</think>\n{"sufficient": true, "missing": "", "queries": []}'],
    ['fenced after a think block', '<think>hm</think>```json\n{"sufficient": true}\n```'],
  ])('R11 reads the object %s', (_name, text) => {
    expect(parseVerdict(text)).toEqual({ kind: 'judged', sufficient: true, missing: '', queries: [] });
  });

  it.each(
    [
      [
        '',
        ' \n ',
        'yes',
        'true',
        'null',
        '[]',
        '[true]',
        '{}',
        '{"sufficient":"true"}',
        '{"sufficient":1}',
        '{"sufficient":null}',
      ],
      [
        '{"sufficient":true',
        '{"sufficient":true}}',
        '{"sufficient":true} {"sufficient":false}',
        '<think>{"sufficient":true}',
        'Sure! {"sufficient":true}',
      ],
    ].flat(),
  )('R11 R32 takes %j for a failed verification', (text) => {
    expect(parseVerdict(text).kind).toBe('failed');
  });

  it('R32 gives no false "sufficient" over 10,000 random replies', () => {
    const wrappers = fc.constantFrom(
      (text: string) => text,
      (text: string) => `\`\`\`json\n${text}\n\`\`\``,
      (text: string) => `<think>${text}</think>`,
      (text: string) => text.slice(0, -1),
      (text: string) => `${text}${text}`,
      (text: string) => text.replace('true', '"true"'),
      (text: string) => `Here it is: ${text}`,
    );
    const value = fc.oneof(
      fc.boolean(),
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.array(fc.boolean()),
      fc.constant({ sufficient: true }),
    );
    const text = fc.oneof(
      fc.string(),
      fc
        .tuple(value, fc.string(), wrappers)
        .map(([sufficientValue, missing, wrap]) => wrap(JSON.stringify({ sufficient: sufficientValue, missing }))),
      fc.tuple(fc.json(), wrappers).map(([json, wrap]) => wrap(json)),
    );

    fc.assert(
      fc.property(text, (reply) => {
        const verdict = parseVerdict(reply);
        // Read from the outside: what says "sufficient" must hold exactly that field with exactly that value.
        if (verdict.kind === 'judged' && verdict.sufficient) expect(reply).toMatch(/"sufficient"\s*:\s*true\b/);
        if (verdict.kind === 'judged' && verdict.sufficient)
          expect(reply).not.toMatch(/^Here|"sufficient"\s*:\s*true[^}]*$/);
      }),
      { numRuns: 10_000 },
    );
  });
});
