import type { Thinking } from './chat-model.ts';

/** How a provider is told to think or not (R18): a `thinking` object, an `enable_thinking` flag, or not at all. */
export type ThinkingStyle = 'thinking' | 'enable_thinking' | 'none';

interface Rule {
  /** Tested against the host name alone, in lower case. */
  host?: RegExp;
  /** Tested against the model name, in lower case. */
  model?: RegExp;
  style: ThinkingStyle;
}

/** First match wins: hosts decide before models, since one model has other fields at another provider. */
const rules: readonly Rule[] = [
  { host: /(^|\.)(aliyuncs|aliyun)\.com$/, style: 'enable_thinking' },
  { host: /(^|\.)siliconflow\.(cn|com)$/, style: 'enable_thinking' },
  { host: /(^|\.)(bigmodel\.cn|z\.ai|deepseek\.com|volces\.com|volcengine\.com|gitee\.com)$/, style: 'thinking' },
  { host: /(^|\.)(openai\.com|openai\.azure\.com|googleapis\.com|mistral\.ai|groq\.com)$/, style: 'none' },
  { model: /(^|[/:_-])(qwen|qwq|qvq)/, style: 'enable_thinking' },
  { model: /(^|[/:_-])(glm|deepseek|doubao)/, style: 'thinking' },
];

/**
 * Chooses the thinking style from the address and the model name. Unknown providers get `thinking`; one that refuses
 * the field is asked again without it. Never throws, also not on an address that is no URL.
 */
export function defaultThinkingStyle(baseUrl: string, model: string): ThinkingStyle {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname.toLowerCase() : '';
  const modelName = model.toLowerCase();
  const rule = rules.find((candidate) => candidate.host?.test(host) || candidate.model?.test(modelName));
  return rule?.style ?? 'thinking';
}

/** The body fields for `thinking` in the given style; none for `default` and for style `none`. */
export function thinkingFields(style: ThinkingStyle, thinking: Thinking): Record<string, unknown> {
  if (thinking === 'default') return {};
  switch (style) {
    case 'thinking':
      return { thinking: { type: thinking } };
    case 'enable_thinking':
      return { enable_thinking: thinking === 'enabled' };
    case 'none':
      return {};
  }
}
