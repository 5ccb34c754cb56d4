import { expect, it } from 'vitest';
import { readArticleStart } from './statute-lines.ts';

it.each([
  ['第二百三十四条 甲。', 234],
  ['第一百二十条之一 甲。', 120],
  ['第一〇三条 甲。', 103],
  ['第一○三条 甲。', 103],
  ['第一百○三条 甲。', 103],
  ['第 三 条 甲。', 3],
  ['第12条 甲。', 12],
  ['第１２条 甲。', 12],
  ['第1百条 甲。', 0],
])('reads the number of %j as %j', (line, number) => {
  expect(readArticleStart(line)?.number).toBe(number);
});

it.each(['', '条 甲。', '第条 甲。', '甲第三条', '第三章 甲'])('reads no article in %j', (line) => {
  expect(readArticleStart(line)).toBeNull();
});
