/**
 * What providers write when they refuse, as far as it changes what we do. Seen in the public documentation and bug
 * threads of OpenAI, Azure, DeepSeek, DashScope, Zhipu, Moonshot, Volcengine, vLLM, SGLang, Ollama, llama.cpp and TEI.
 */

const contextLength = [
  /context[_ ]length/i,
  /maximum (context|model|sequence|input) length/i,
  /(exceed|larger than|longer than|over)\w*( the)?( model'?s?)?( available| maximum| max)?( number of)?( context| token| input (length|token))/i,
  /context (window|size)/i,
  /(prompt|input|text|request)( \w+)? (is |are )?too (long|large)/i,
  /too many (input )?tokens/i,
  /range of input length/i,
  /inputs? must have less than \d+ tokens/i,
  /reduce the length of/i,
  /上下文(长度|窗口)|输入(内容|长度)?(过长|超)|超(过|出).{0,12}(最大|上限).{0,6}(长度|token)/i,
];

const quotaUsedUp = [
  /insufficient[_ ](quota|balance|funds|credit)/i,
  /exceeded your current quota/i,
  /(credit|balance) (is )?(too low|exhausted|not enough)/i,
  /arrearage|overdue[- ]payment|billing/i,
  /余额不足|欠费|额度(不足|已用完)/,
];

const rateLimit = [
  /rate[_ -]?limit/i,
  /too many requests/i,
  /throttl/i,
  /requests per (second|minute|day)/i,
  /限流|请求过于频繁/,
];

/** Which words in a refusal speak of which field of the request. */
const fieldWords: Readonly<Record<string, RegExp>> = {
  thinking: /thinking/i,
  enable_thinking: /thinking/i,
  stream_options: /stream[_ ]options|include_usage/i,
  response_format: /response[_ ]format|json[_ ](object|mode)/i,
  // Only this refusal has a remedy: the field under its newer name.
  max_tokens: /max_completion_tokens/i,
  dimensions: /\bdimensions\b|matryoshka/i,
  encoding_format: /encoding[_ ]format/i,
};

/** True when a provider's error text says that the input does not fit the model. */
export function saysContextLength(text: string): boolean {
  return contextLength.some((pattern) => pattern.test(text));
}

/** True when a provider's error text says that the account is out of money or quota: waiting does not help. */
export function saysQuotaUsedUp(text: string): boolean {
  return quotaUsedUp.some((pattern) => pattern.test(text));
}

/** True when a provider's error text speaks of a limit on requests; for errors that come without a status. */
export function saysRateLimit(text: string): boolean {
  return rateLimit.some((pattern) => pattern.test(text));
}

/** True when a provider's error text speaks of the request field `field`. A field not catalogued matches by its name. */
export function saysField(text: string, field: string): boolean {
  return fieldWords[field]?.test(text) ?? text.includes(field);
}
