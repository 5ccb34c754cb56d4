import { expect, it } from 'vitest';
import { isChinese } from './language.ts';

it.each([
  ['年休假有几天？', true],
  ['What does 年休假 mean?', true],
  ['𠮷', true],
  ['How many days?', false],
  ['ひらがな？', false],
  ['，。！', false],
  ['', false],
])('says of "%s": %s', (text, expected) => {
  expect(isChinese(text)).toBe(expected);
});
