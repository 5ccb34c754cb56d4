import { describe, expect, it } from 'vitest';
import { failureMessage, languageOf, messageFor } from './messages.ts';

describe('languageOf', () => {
  it.each([
    [undefined, 'zh-CN'],
    ['', 'zh-CN'],
    ['zh-Hant', 'zh-CN'],
    ['en-US', 'en-US'],
    ['en', 'en-US'],
    ['fr, en;q=0.8, zh;q=0.5', 'en-US'],
    ['en;q=0.3, zh-CN;q=0.9', 'zh-CN'],
    ['en;q=0', 'zh-CN'],
    ['*', 'zh-CN'],
    [';;,,q=x', 'zh-CN'],
  ])('takes %s as %s', (header, language) => {
    expect(languageOf(header)).toBe(language);
  });
});

describe('messageFor', () => {
  it('puts values in once and literally', () => {
    expect(messageFor('invalid_field', 'en-US', ['$&', '{0}'])).toBe('$&: {0}');
  });

  it('keeps the numbers of a question that is too long', () => {
    expect(messageFor('question_too_long', 'zh-CN', ['5000', '4000'])).toContain('约 5000 个词元，最多 4000 个');
  });
});

describe('failureMessage', () => {
  it('says a failure in Chinese, and keeps the words of one it does not know', () => {
    const failure = { code: 'unavailable', message: 'The service is failing.' };

    expect(failureMessage(failure, 'zh-CN')).toContain('模型服务无法访问');
    expect(failureMessage(failure, 'en-US')).toBe(failure.message);
    expect(failureMessage({ code: 'new_code', message: 'Words.' }, 'zh-CN')).toBe('Words.');
  });
});
