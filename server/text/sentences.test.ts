import { describe, expect, it } from 'vitest';
import { splitSentences } from './sentences.ts';

const textsOf = (source: string) => splitSentences(source).map((sentence) => sentence.text);

describe('splitSentences', () => {
  it.each([
    ['Chinese', '员工有年假。年假几天？十天！', ['员工有年假。', '年假几天？', '十天！']],
    ['Chinese without an end', '员工有年假。年假', ['员工有年假。', '年假']],
    ['semicolons and commas', '甲，乙；丙。', ['甲，乙；丙。']],
    ['English', 'Leave is paid. How long? Ten days!', ['Leave is paid.', 'How long?', 'Ten days!']],
    ['both languages', '见 Clause 4. 年假十天。Paid.', ['见 Clause 4.', '年假十天。', 'Paid.']],
    ['several marks', '真的吗？！No way?! Wait...', ['真的吗？！', 'No way?!', 'Wait...']],
    ['dots in a sentence', 'Wait... then go. Done.', ['Wait...', 'then go.', 'Done.']],
    ['lines', '第一行\n\n第二行\r\nthird', ['第一行', '第二行', 'third']],
    ['abbreviations', 'Mr. Li met Dr. Wu of Acme Inc. in May. OK.', ['Mr. Li met Dr. Wu of Acme Inc. in May.', 'OK.']],
    ['initials', 'J. R. Smith (b. 1970) came. He left.', ['J. R. Smith (b. 1970) came.', 'He left.']],
    ['e.g. and i.e.', 'Pets, e.g. cats, i.e. felines. Yes.', ['Pets, e.g. cats, i.e. felines.', 'Yes.']],
    [
      'numbers of things',
      'See Art. 5 and Fig. 3 of No. 7. Then stop.',
      ['See Art. 5 and Fig. 3 of No. 7.', 'Then stop.'],
    ],
    ['decimals', '费率为3.14元。Pi is 3.14. Yes.', ['费率为3.14元。', 'Pi is 3.14.', 'Yes.']],
    ['versions', 'Use v2.10.3 now. Or v3.', ['Use v2.10.3 now.', 'Or v3.']],
    ['addresses', 'Ask a.b@c.org or www.d.com. Thanks.', ['Ask a.b@c.org or www.d.com.', 'Thanks.']],
    ['quotes', '他说：“好。”然后走了。', ['他说：“好。”', '然后走了。']],
    ['corner brackets', '「行。」（同意！）完。', ['「行。」', '（同意！）', '完。']],
    [
      'English quotes',
      'He said "yes." She said \'no.\' (Both left.) End.',
      ['He said "yes."', "She said 'no.'", '(Both left.)', 'End.'],
    ],
    ['emoji', '好👍。Fine 👨‍👩‍👧. Next', ['好👍。', 'Fine 👨‍👩‍👧.', 'Next']],
    ['marks alone', '。。。', ['。。。']],
    ['blanks', ' \n\t ', []],
    ['nothing', '', []],
  ])('cuts %s', (_, source, sentences) => {
    expect(textsOf(source)).toEqual(sentences);
  });

  it('says where each sentence is', () => {
    const source = '  一。 \n\n two. 三';

    for (const { text, start, end } of splitSentences(source)) expect(source.slice(start, end)).toBe(text);
    expect(textsOf(source)).toEqual(['一。', 'two.', '三']);
  });

  it.each([
    ['dots before a letter', `${'.'.repeat(100_000)}a`],
    ['dots and brackets before a letter', `${'.'.repeat(50_000)}${')'.repeat(50_000)}a`],
    ['dots, each with brackets', `${'.)'.repeat(50_000)}a`],
    ['exclamation marks', `${'!'.repeat(100_000)}a`],
    ['newlines', `${'\n'.repeat(100_000)}a`],
    ['closing brackets', `${')'.repeat(100_000)}a`],
    ['spaces', `${' '.repeat(100_000)}a`],
    ['abbreviations', 'e.g. '.repeat(20_000)],
  ])('takes no longer than the text is long: %s', (_, source) => {
    const started = performance.now();

    splitSentences(source);

    expect(performance.now() - started).toBeLessThan(200);
  });
});

describe('lines', () => {
  it('takes a line that a margin broke for a part of its sentence', () => {
    const text =
      'Every employee has 28 days. Up to five unused days can be carried over and must be taken by\n31 March of the following year.';

    expect(splitSentences(text).map((sentence) => sentence.text)).toEqual([
      'Every employee has 28 days.',
      'Up to five unused days can be carried over and must be taken by\n31 March of the following year.',
    ]);
  });

  it.each([
    ['a table', '| A (Beijing, London, New York, Paris) | 180 EUR | 60 EUR |\n| B | 140 EUR | 45 EUR |'],
    ['a list', 'Use the company VPN on every public network, wherever you are\n- Customer data stays in the office'],
    ['short lines', 'Roses are red\nViolets are blue'],
    [
      'a statute',
      '有下列情形之一的，公民、法人或者其他组织可以依照本法的规定申请行政复议，并且应当受理\n（一）对行政处罚不服',
    ],
    ['a blank line', 'Use the company VPN on every public network, wherever you are in it\n\nCustomer data stays'],
  ])('keeps the lines of %s apart', (_name, text) => {
    expect(splitSentences(text)).toHaveLength(2);
  });
});
