import { describe, expect, it } from 'vitest';
import { saysContextLength, saysField, saysQuotaUsedUp, saysRateLimit } from './foreign-errors.ts';

describe('foreign error texts', () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    '{"code":"context_length_exceeded"}',
    'the request exceeds the available context size, try increasing it',
    'Range of input length should be [1, 30720]',
    'inputs must have less than 512 tokens. Given: 800',
    "The input (9000 tokens) is longer than the model's context length (4096 tokens)",
    'Prompt is too long',
    'Please reduce the length of the messages',
    '输入过长，超过模型最大长度',
    'input is too large to process. increase the physical batch size',
  ])('context length: %s', (text) => {
    expect(saysContextLength(text)).toBe(true);
  });

  it.each([
    'Model Not Exist',
    'Invalid API key provided',
    'Unrecognized request argument: thinking',
    'max_tokens is too large',
  ])('not context length: %s', (text) => {
    expect(saysContextLength(text)).toBe(false);
  });

  it.each([
    'insufficient_quota',
    'You exceeded your current quota, please check your plan',
    'Insufficient Balance',
    '余额不足或无可用资源包',
  ])('quota: %s', (text) => {
    expect(saysQuotaUsedUp(text)).toBe(true);
  });

  it('tells limits on requests', () => {
    expect(saysRateLimit('Requests rate limit exceeded, please try again later.')).toBe(true);
    expect(saysRateLimit('Throttling.RateQuota')).toBe(true);
    expect(saysRateLimit('server_error')).toBe(false);
  });

  it('tells the field a refusal is about', () => {
    expect(saysField('parameter.enable_thinking is not supported', 'enable_thinking')).toBe(true);
    expect(saysField("Unknown name 'stream_options'", 'stream_options')).toBe(true);
    expect(saysField("'json_object' is not supported by this model", 'response_format')).toBe(true);
    expect(saysField("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", 'max_tokens')).toBe(
      true,
    );
    expect(saysField('max_tokens must be at most 4096', 'max_tokens')).toBe(false);
  });
});
