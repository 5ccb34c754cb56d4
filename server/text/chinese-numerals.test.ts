import { expect, it } from 'vitest';
import { numeralsToDigits, parseChineseNumeral } from './chinese-numerals.ts';

it.each([
  ['十', 10],
  ['二十', 20],
  ['一百零三', 103],
  ['二百三十四', 234],
  ['一千二百六十', 1260],
  ['三万五千', 35_000],
  ['一亿二千万', 120_000_000],
  ['一九九九', 1999],
  ['二〇二三', 2023],
  ['两', 2],
  ['十万', 100_000],
  ['百万', 1_000_000],
  ['一万二', 10_002],
  ['一○三', 103],
  ['一百○三', 103],
  ['120', 120],
  ['１２０', 120],
  ['1百', null],
  ['甲', null],
  ['', null],
])('reads %j as %j', (text, value) => {
  expect(parseChineseNumeral(text)).toBe(value);
});

it.each([
  ['自知道之日起六十日内', '自知道之日起60日内'],
  ['第二百三十四条之一', '第234条之一'],
  ['一般申请期限', '一般申请期限'],
  ['十个工作日', '10个工作日'],
  ['万一发生', '万一发生'],
])('writes %j as %j', (text, digits) => {
  expect(numeralsToDigits(text)).toBe(digits);
});
