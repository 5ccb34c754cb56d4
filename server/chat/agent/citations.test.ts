import { describe, expect, it } from 'vitest';
import { buildHit } from '../../testing/search-hits.ts';
import { buildCitations, unknownMarkers } from './citations.ts';
import type { Evidence } from './evidence.ts';

const LAW =
  '公民可以自知道该行政行为之日起六十日内提出行政复议申请。\n因不可抗力耽误法定申请期限的，申请期限自障碍消除之日起继续计算。';

function evidence(n: number, content: string): Evidence {
  return {
    ...buildHit({ paragraphId: `p${n}`, content, title: '第二十条' }),
    n,
    rank: n,
    round: 1,
    shownContent: content,
  };
}

describe('buildCitations', () => {
  it('R121 ties a marker to the sentence it rests on', () => {
    const [citation] = buildCitations('申请期限自障碍消除之日起继续计算 [1]。', [evidence(1, LAW)]);

    expect(citation).toMatchObject({ n: 1, paragraph_id: 'p1', title: '第二十条', verified: true, reason: '' });
    expect(citation?.quote).toContain('障碍消除');
    expect(citation?.quote).not.toContain('六十日');
    expect(LAW.slice(citation?.start, citation?.end)).toBe(citation?.quote);
  });

  it.each([
    ['not inside another word', 'A permit is not required [1].', 'Another permit is required by notice.', '"not"'],
    ['cannot', 'The claim cannot be extended [1].', 'The claim can be extended.', '"not"'],
    ['a curly apostrophe', 'It isn’t allowed [1].', 'It is allowed.', '"not"'],
    ['不需要', '申请不需要缴费 [1]。', '申请需要缴费。', '不需'],
    ['无效', '该合同无效 [1]。', '该合同有效。', '无效'],
  ])('R121 finds the negation %s', (_what, answer, source, named) => {
    const [citation] = buildCitations(answer, [evidence(1, source)]);

    expect(citation?.verified).toBe(false);
    expect(citation?.reason).toContain(named);
  });

  it.each([
    ['the number of a list item', '1、申请期限为六十日 [1]。', '申请期限为六十日。'],
    ['the number of an English list item', '2. The limit is 30 days [1].', 'The limit is 30 days.'],
    ['a short form of the same negation', "It isn't allowed [1].", 'It is not allowed.'],
  ])('R121 is not misled by %s', (_what, answer, source) => {
    expect(buildCitations(answer, [evidence(1, source)])[0]).toMatchObject({ verified: true, reason: '' });
  });

  it('R121 quotes the sentence that matches, however long the paragraph', () => {
    const paragraph = `申请应当书面提出，${'并附材料'.repeat(70)}。\n申请费用为每件一百元。`;

    expect(buildCitations('申请费用为一百元 [1]。', [evidence(1, paragraph)])[0]?.quote).toBe('申请费用为每件一百元。');
  });

  it('takes a number inside a quotation for the document\u2019s own', () => {
    const answer = '“As shown in [3], the limit is 30 days.” [1]';

    expect(buildCitations(answer, [evidence(1, 'As shown in [3], the limit is 30 days.')]).map(({ n }) => n)).toEqual([
      1,
    ]);
    expect(unknownMarkers(answer, [evidence(1, 'x')])).toEqual([]);
  });

  it.each([
    ['a number', '应当在九十日内提出申请 [1]。', '90'],
    ['a number in digits', 'The period is 90 days [1].', '90'],
    ['a negation', '公民不得提出行政复议申请 [1]。', '不得'],
  ])('R121 does not verify %s that the source lacks', (_what, answer, named) => {
    const [citation] = buildCitations(answer, [evidence(1, LAW)]);

    expect(citation?.verified).toBe(false);
    expect(citation?.reason).toContain(named);
  });

  it('R121 takes digits for the numeral they stand for', () => {
    expect(buildCitations('应当在60日内提出申请 [1]。', [evidence(1, LAW)])[0]?.verified).toBe(true);
  });

  it('R121 folds width, case and whitespace', () => {
    const [citation] = buildCitations('The limit is 30 days [1].', [evidence(1, 'the  LIMIT\nis ３０ days')]);

    expect(citation?.verified).toBe(true);
  });

  it('reads several numbers in one marker, full-width brackets, and markers behind the full stop', () => {
    const list = [evidence(1, LAW), evidence(2, LAW), evidence(3, LAW)];

    expect(buildCitations('六十日内提出申请。[1]', list).map((citation) => citation.n)).toEqual([1]);
    expect(buildCitations('六十日【3】，障碍消除 [1, 2]。', list).map((citation) => citation.n)).toEqual([1, 2, 3]);
    expect(buildCitations('六十日内提出申请。[1]', list)[0]?.verified).toBe(true);
  });

  it('leaves out numbers without evidence and names them', () => {
    expect(buildCitations('a [7] b [1]', [evidence(1, 'a b')]).map((citation) => citation.n)).toEqual([1]);
    expect(unknownMarkers('a [7] b [1] c [9]', [evidence(1, 'a b')])).toEqual([7, 9]);
  });

  it('takes nothing for a citation that is none', () => {
    expect(buildCitations('array[0] = x[i]; [link](http://a.test) 无引用', [evidence(1, 'x')])).toEqual([]);
  });
});
