import { describe, expect, it } from 'vitest';
import { paragraphReferences, parseReferences, referenceTerm } from './references.ts';

describe('parseReferences', () => {
  it.each([
    ['行政复议法第二十条', 'article', '20', '行政复议法'],
    ['《行政复议法》第20条第二款', 'article', '20', '行政复议法'],
    ['《中华人民共和国行政复议法》第２０条', 'article', '20', '行政复议法'],
    ['根据行政复议法第 20 条，期限多久', 'article', '20', '行政复议法'],
    ['民法典第一百四十四条', 'article', '144', '民法典'],
    ['刑法第二百三十四条之一', 'article', '234-1', '刑法'],
    ['民诉法第五条', 'article', '5', '民事诉讼法'],
    ['行政复议法第二章第二十条', 'article', '20', '行政复议法'],
    [
      '最高人民法院关于适用《中华人民共和国婚姻法》若干问题的解释（二）第十五条',
      'article',
      '15',
      '最高人民法院关于适用婚姻法若干问题的解释(二)',
    ],
    ['Article 5 of the Foo Act', 'article', '5', 'fooact'],
    ['GDPR Article 17', 'article', '17', 'gdpr'],
    ['section 3.2.1 of the manual', 'section', '3.2.1', 'manual'],
  ])('reads %s', (query, kind, number, name) => {
    const [reference] = parseReferences(query);

    expect(reference).toMatchObject({ kind, number });
    expect(reference?.names).toContain(name);
  });

  it.each([
    ['第20条', '20'],
    ['3.2.1', '3.2.1'],
    ['第3.2.1节', '3.2.1'],
  ])('reads %s without a text', (query, number) => {
    expect(parseReferences(query)).toMatchObject([{ number, names: [] }]);
  });

  it('gives the second article the law of the first', () => {
    const references = parseReferences('民法典第一百四十四条和第一百四十五条');

    expect(references.map(({ number, names }) => [number, names.includes('民法典')])).toEqual([
      ['144', true],
      ['145', true],
    ]);
  });

  it.each(['v2.10', '3.14', '第二天怎么办', '2019-01-02', '60日', "'; drop table x; --", ''])(
    'finds none in %j',
    (query) => {
      expect(parseReferences(query)).toEqual([]);
    },
  );

  it('takes short time for hostile text', () => {
    const startedMs = performance.now();
    for (const part of ['第', '第一', '1.', '(', '第1条', 'article 1 of ']) parseReferences(part.repeat(200_000));

    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});

describe('paragraphReferences', () => {
  it('names the article of a law by title and by document', () => {
    const terms = paragraphReferences({
      title: '中华人民共和国行政复议法 第二章 行政复议申请 第二十条',
      content: '公民、法人认为第三十条所述行为',
      documentName: '行政复议法(2023-09-01).md',
    });

    expect(terms).toContain(referenceTerm({ kind: 'article', number: '20' }, { kind: 'strict', name: '行政复议法' }));
    expect(terms).toContain(referenceTerm({ kind: 'article', number: '20' }, { kind: 'any' }));
    expect(terms.join()).not.toContain('30');
  });

  it('reads articles at the beginnings of lines when the title has none', () => {
    const terms = paragraphReferences({
      title: '总则',
      content: '第一条 为了……\n第二条 本办法……',
      documentName: '考勤办法.docx',
    });

    expect(terms).toContain(referenceTerm({ kind: 'article', number: '2' }, { kind: 'strict', name: '考勤办法' }));
  });

  it('knows a draft by the name without its edition, apart from the final text', () => {
    const terms = paragraphReferences({ title: '诉讼规则（试行） 第八条', content: '', documentName: '' });

    expect(terms).toContain(referenceTerm({ kind: 'article', number: '8' }, { kind: 'loose', name: '诉讼规则' }));
    expect(terms).not.toContain(referenceTerm({ kind: 'article', number: '8' }, { kind: 'strict', name: '诉讼规则' }));
  });

  it('reads section numbers', () => {
    expect(paragraphReferences({ title: '3.2.1 Install', content: '', documentName: 'manual.pdf' })).toContain(
      referenceTerm({ kind: 'section', number: '3.2.1' }, { kind: 'strict', name: 'manual' }),
    );
  });
});
