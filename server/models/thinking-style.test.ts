import { describe, expect, it } from 'vitest';
import { defaultThinkingStyle, thinkingFields } from './thinking-style.ts';

describe('R18 thinking styles', () => {
  it.each([
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen-plus', 'enable_thinking'],
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'deepseek-v3.1', 'enable_thinking'],
    ['http://127.0.0.1:8000/v1', 'Qwen/Qwen3-8B', 'enable_thinking'],
    ['https://ai.gitee.com/v1', 'Qwen3-235B', 'thinking'],
    ['https://open.bigmodel.cn/api/paas/v4', 'glm-4.6', 'thinking'],
    ['https://api.deepseek.com/v1', 'deepseek-chat', 'thinking'],
    ['https://ark.cn-beijing.volces.com/api/v3', 'doubao-seed-1.6', 'thinking'],
    ['https://api.openai.com/v1', 'gpt-5', 'none'],
    ['https://example.org/v1', 'unheard-of', 'thinking'],
    ['no address', 'qwen3', 'enable_thinking'],
  ])('%s with %s', (baseUrl, model, style) => {
    expect(defaultThinkingStyle(baseUrl, model)).toBe(style);
  });

  it.each([
    ['thinking', 'disabled', { thinking: { type: 'disabled' } }],
    ['thinking', 'enabled', { thinking: { type: 'enabled' } }],
    ['enable_thinking', 'disabled', { enable_thinking: false }],
    ['enable_thinking', 'enabled', { enable_thinking: true }],
    ['none', 'disabled', {}],
    ['thinking', 'default', {}],
  ] as const)('style %s, %s', (style, thinking, fields) => {
    expect(thinkingFields(style, thinking)).toEqual(fields);
  });
});
