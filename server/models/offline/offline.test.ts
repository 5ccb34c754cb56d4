import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentWords } from '../../testing/ask-app.ts';
import type { EvidencePassage, ModelTask } from '../chat-model.ts';
import { answerOffline } from './answer-offline.ts';
import { assessOffline } from './assess-offline.ts';
import { supersededDocuments } from './document-version.ts';
import { splitQuestion } from './question-parts.ts';
import { rewriteOffline } from './rewrite-offline.ts';

const LAW: EvidencePassage = {
  n: 1,
  document: '行政复议法(2023-09-01).md',
  title: '中华人民共和国行政复议法 第二十条',
  content:
    '公民认为行政行为侵犯其合法权益的，可以自知道该行政行为之日起六十日内提出行政复议申请。\n因不可抗力耽误法定申请期限的，申请期限自障碍消除之日起继续计算。',
};
const OLD: EvidencePassage = {
  ...LAW,
  n: 2,
  document: '行政复议法(2017-09-01).md',
  title: '中华人民共和国行政复议法 第九条',
};

const answer = (question: string, passages: EvidencePassage[]) =>
  answerOffline({ kind: 'answer', question, asked: question, passages, gap: '', sufficient: false }, contentWords).join(
    '',
  );
const assess = (question: string, passages: EvidencePassage[], searchedQueries: string[] = []) =>
  assessOffline({ kind: 'assess', question, passages, searchedQueries }, contentWords);

describe('splitQuestion', () => {
  it.each([
    ['行政复议申请期限是多久？因不可抗力耽误了怎么办？', ['行政复议申请期限是多久？', '因不可抗力耽误了怎么办？']],
    [
      '主债权债务合同无效时，保证合同是否有效？另外，什么是有追索权的保理？',
      ['主债权债务合同无效时，保证合同是否有效？', '什么是有追索权的保理？'],
    ],
    ['How long is sick leave and who must be told?', ['How long is sick leave', 'who must be told?']],
    ['年休假几天', ['年休假几天']],
    ['行政复议和行政诉讼分别由谁受理？', ['行政复议由谁受理？', '行政诉讼由谁受理？']],
    ['我昨天收到罚单。可以申请复议吗？', ['我昨天收到罚单。可以申请复议吗？']],
    ['', []],
  ])('cuts %j', (question, parts) => {
    expect(splitQuestion(question)).toEqual(parts);
  });

  it('always gives at least one part and never more than eight', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (question) => {
        const parts = splitQuestion(question);
        expect(parts.length).toBeLessThanOrEqual(8);
        if (question.trim() !== '') expect(parts.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('the offline verifier', () => {
  it('R7 finds every part covered', () => {
    const verdict = assess('行政复议申请期限是多久？因不可抗力耽误申请期限怎么办？', [LAW]);

    expect(verdict).toEqual({ sufficient: true, missing: '', queries: [] });
  });

  it('R9 asks for the missing part by its own terms', () => {
    const verdict = assess('行政复议申请期限是多久？行政诉讼一审审理期限是多久？', [LAW]);

    expect(verdict.sufficient).toBe(false);
    expect(verdict.missing).toBe('行政诉讼一审审理期限是多久？');
    expect(verdict.queries[0]).toContain('审理');
  });

  it('wants a duration where one is asked for', () => {
    const without = { ...LAW, content: '行政复议申请期限由法律规定，申请人应当在申请期限内提出。' };

    expect(assess('行政复议申请期限是多久？', [without]).sufficient).toBe(false);
  });

  it('does not ask what was searched already', () => {
    const question = '火星基地食堂午餐价格是多少？';
    const first = assess(question, [LAW], [question]);
    const second = assess(question, [LAW], [question, ...first.queries]);

    expect(second.queries).not.toEqual(first.queries);
    expect(assess(question, [LAW], [question, ...first.queries, ...second.queries]).queries).toEqual([]);
  });

  it('R42 is never satisfied by nothing', () => {
    fc.assert(
      fc.property(fc.string(), (question) => {
        expect(assess(question, []).sufficient).toBe(false);
      }),
    );
  });
});

describe('the offline answerer', () => {
  it('quotes what answers each part, with its number', () => {
    const text = answer('行政复议申请期限是多久？因不可抗力耽误申请期限怎么办？', [LAW]);

    expect(text).toContain('六十日内提出行政复议申请。” [1]');
    expect(text).toContain('自障碍消除之日起继续计算。” [1]');
  });

  it('prefers the version in force', () => {
    expect(answer('行政复议申请期限是多久？', [OLD, LAW])).not.toContain('[2]');
    expect(answer('2017年的行政复议法申请期限是多久？', [OLD])).toContain('[2]');
  });

  it('R16 says which part it did not find', () => {
    const text = answer('行政复议申请期限是多久？火星基地食堂午餐价格是多少？', [LAW]);

    expect(text).toContain('没有找到');
    expect(text).toContain('火星基地食堂午餐价格是多少');
  });

  it('R43 says so with no evidence at all', () => {
    expect(answer('年假几天？', [])).toContain('无法核实');
    expect(answer('How many days?', [])).toContain('cannot be answered or verified');
  });

  it('quotes a list with what announces it', () => {
    const list = {
      ...LAW,
      content:
        '有下列情形之一的，申请人可以申请行政复议：\n（一）对行政处罚决定不服；\n（二）对行政强制措施不服。\n\n其他规定。',
    };

    expect(answer('哪些情形可以申请行政复议？', [list])).toContain('（二）对行政强制措施不服');
  });

  it.each([
    ['行政复议法第二十条规定了什么？', true],
    ['《行政复议法》第20条第二款怎么说？', true],
    ['行政复议法第一百条规定了什么？', false],
    ['仲裁法第二十条规定了什么？', false],
  ])('answers %j by that article, whole, or not at all', (question, found) => {
    const other = {
      ...LAW,
      n: 2,
      title: '中华人民共和国行政复议法 第三十条',
      content: '行政复议法第二十条规定的申请，五日内审查。',
    };
    const text = answer(question, [other, LAW]);

    expect(assess(question, [other, LAW]).sufficient).toBe(found);
    expect(text.includes('六十日') && text.includes('障碍消除') && text.includes('[1]')).toBe(found);
    expect(text).not.toContain('[2]');
  });

  it('quotes a row of a table with its head, and never the head alone', () => {
    const table = {
      ...LAW,
      document: 'travel.md',
      title: 'Allowances',
      content:
        '| city | hotel | meals per day |\n|---|---|---|\n| A (London) | 180 EUR | 60 EUR |\n| B | 140 EUR | 45 EUR |',
    };
    const text = answer('What is the meals allowance per day in London?', [table]);

    expect(text).toBe('“| city | hotel | meals per day |” “| A (London) | 180 EUR | 60 EUR |” [1]');
  });

  it.each(['①②', '-1', '？？'])('finds nothing in %j', (question) => {
    expect(assess(question, [LAW]).sufficient).toBe(false);
  });

  it('never writes a quote that is not in the evidence', () => {
    const fold = (text: string) => text.replace(/\s+/g, ' ').trim();
    const task = fc.record({
      question: fc.constantFrom('申请期限是多久？', '怎么办？另外，谁受理？', 'How long?', '其他'),
      content: fc
        .array(
          fc.constantFrom(
            '申请期限六十日。',
            '有下列情形：\n',
            '（一）甲；\n',
            '（二）乙。\n',
            'How long: 3 days. ',
            '谁受理由机关定。',
          ),
        )
        .map((parts) => parts.join('')),
    });

    fc.assert(
      fc.property(task, ({ question, content }) => {
        const quotes = [...answer(question, [{ ...LAW, content }]).matchAll(/“([^”]*)” \[1\]/g)];
        for (const [, quote] of quotes) expect(fold(content)).toContain(fold(quote ?? ''));
      }),
    );
  });
});

describe('the offline rewriter', () => {
  const rewrite = (question: string, previous: string) => {
    const task: Extract<ModelTask, { kind: 'rewrite' }> = {
      kind: 'rewrite',
      question,
      summary: '',
      rounds: [{ question: previous, answer: '' }],
    };
    return rewriteOffline(task, contentWords);
  };

  it.each([
    ['它的审理期限呢？', '行政复议的申请期限是多久？', '行政'],
    ['那逾期了怎么办？', '《行政复议法》规定的期限是多久？', '《行政复议法》'],
    ['And how is it reported?', 'What about a lost badge?', 'badge'],
  ])('R5 carries the subject over to %j', (question, previous, carried) => {
    expect(rewrite(question, previous)).toContain(carried);
    expect(rewrite(question, previous)).toContain(question);
  });

  it.each([
    ['那第十六条呢？', '仲裁法第十三条规定了什么？', '第十三条'],
    ['那行政诉讼呢？', '行政复议的申请期限是多久？', '行政复议'],
  ])('does not carry what %j replaces', (question, previous, replaced) => {
    expect(rewrite(question, previous)).not.toContain(replaced);
  });

  it('carries words as they were said', () => {
    expect(rewrite('And how is it reported?', 'What about stolen devices?')).toContain('stolen devices');
  });

  it.each(['谢谢', 'Thank you!', 'And sick leave?'])('leaves %j as it is', (question) => {
    expect(rewrite(question, 'How many days of annual leave do I get?')).toBe(question);
  });

  it('leaves a question that stands alone', () => {
    expect(rewrite('民事诉讼一审普通程序的审理期限是多久？', '行政复议的申请期限是多久？')).toBe(
      '民事诉讼一审普通程序的审理期限是多久？',
    );
  });
});

describe('supersededDocuments', () => {
  it.each([
    [['法(2017-09-01).md', '法(2023-09-01).md'], '期限？', ['法(2017-09-01).md']],
    [['法(2017-09-01).md', '法(2023-09-01).md'], '2017年的期限？', []],
    [['policy-2021.pdf', 'policy-2024.pdf'], 'What is the threshold, and who holds the key?', ['policy-2021.pdf']],
    [['法(2017-09-01).md', '法(2023-09-01).md'], '罚款2000元以下怎么办？', ['法(2017-09-01).md']],
    [['甲法(2017).md', '乙法(2023).md'], '期限？', []],
    [['policy-2021.pdf', 'policy-2024.pdf', 'other.pdf'], 'Which?', ['policy-2021.pdf']],
  ])('of %j', (names, question, superseded) => {
    expect([...supersededDocuments(names, question)]).toEqual(superseded);
  });
});
