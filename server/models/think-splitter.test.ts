import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThinkSplitter, type ThinkTags } from './think-splitter.ts';

function split(chunks: readonly string[], tags?: ThinkTags) {
  const splitter = new ThinkSplitter(tags);
  const deltas = [...chunks.map((chunk) => splitter.push(chunk)), splitter.flush()];
  return {
    content: deltas.map((delta) => delta.content).join(''),
    reasoningContent: deltas.map((delta) => delta.reasoningContent).join(''),
  };
}

describe('ThinkSplitter (maxkb-v1-api §3.3)', () => {
  it.each([
    ['a think block, then the answer', '<think>想一想</think>答案', '想一想', '答案'],
    ['white space before the block', ' \n\t<think>a</think>\n\nb', 'a', '\n\nb'],
    ['a tag that comes later is content', 'see <think>x</think>', '', 'see <think>x</think>'],
    ['a second block is content', '<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
    ['an end tag alone is content', 'a</think>b', '', 'a</think>b'],
    ['a block without end is all reasoning', '<think>cut off', 'cut off', ''],
    ['half an end tag is reasoning', '<think>a</thi', 'a</thi', ''],
    ['half a start tag is content', '  <thi', '', '  <thi'],
    ['nearly a start tag', '<thinking>a', '', '<thinking>a'],
    ['an empty block', '<think></think>答', '', '答'],
    ['a tag begun twice', '<think><</</think>x', '<</', 'x'],
    ['white space alone', ' \n ', '', ' \n '],
    ['nothing', '', '', ''],
  ])('%s', (_name, text, reasoningContent, content) => {
    expect(split([text])).toEqual({ content, reasoningContent });
    expect(split([...text])).toEqual({ content, reasoningContent });
  });

  it('gives the same split however the text is cut', () => {
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<',
      '</',
      'think',
      '>',
      ' ',
      '\n',
      '好',
      '😀',
      'a',
      '<th',
      'ink>',
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 60 }), { maxLength: 10 }), (whole, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((end, i) => whole.slice(places[i], end));

        expect(split(chunks)).toEqual(split([whole]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('loses nothing but the tags and the white space before them', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (think, answer) => {
        fc.pre(!think.includes('</think>') && !`${think}</think>`.slice(0, -1).includes('</think>'));
        expect(split([`<think>${think}</think>${answer}`])).toEqual({ content: answer, reasoningContent: think });
      }),
    );
  });

  it('withholds only what may still become a tag', () => {
    const splitter = new ThinkSplitter();

    expect(splitter.push(' <th')).toEqual({ content: '', reasoningContent: '' });
    expect(splitter.push('e answer')).toEqual({ content: ' <the answer', reasoningContent: '' });
    expect(splitter.push('<think>')).toEqual({ content: '<think>', reasoningContent: '' });
  });

  it('takes other tags, and none', () => {
    const tags = { start: '[思考]', end: '[/思考]' };

    expect(split(['[思', '考]a[/', '思考]b'], tags)).toEqual({ content: 'b', reasoningContent: 'a' });
    expect(split(['<think>a</think>b'], { start: '', end: '</think>' }).content).toBe('<think>a</think>b');
  });
});
