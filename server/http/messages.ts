import { FUNCTION_MESSAGES } from './function-messages.ts';

/** Languages that messages exist in; the first is the default (maxkb-v1-api.md section 1.4). */
export const LANGUAGES = ['zh-CN', 'en-US'] as const;
export type Language = (typeof LANGUAGES)[number];

/** `{0}`, `{1}` take the values in order. */
const MESSAGES = {
  success: { 'zh-CN': '成功', 'en-US': 'Success' },
  token_missing: {
    'zh-CN': '未登录，请提供访问令牌。',
    'en-US': 'You are not signed in: send the access token in the AUTHORIZATION header.',
  },
  token_wrong: {
    'zh-CN': '访问令牌无效，请使用服务启动时显示的令牌。',
    'en-US': 'The access token is wrong: use the one that the server showed when it started.',
  },
  foreign_host: {
    'zh-CN': '只能通过本机地址（127.0.0.1 或 localhost）访问。',
    'en-US': 'Only addresses of this machine (127.0.0.1 or localhost) are served.',
  },
  foreign_origin: { 'zh-CN': '不接受其他网站发来的请求。', 'en-US': 'Requests from other sites are not accepted.' },
  route_not_found: { 'zh-CN': '接口不存在。', 'en-US': 'There is nothing at this address.' },
  malformed_request: { 'zh-CN': '请求格式不正确。', 'en-US': 'The request is malformed.' },
  malformed_json: { 'zh-CN': '请求内容不是有效的 JSON。', 'en-US': 'The request body is not valid JSON.' },
  invalid_field: { 'zh-CN': '{0}：{1}', 'en-US': '{0}: {1}' },
  body_too_large: { 'zh-CN': '请求内容过大。', 'en-US': 'The request body is too large.' },
  unsupported_media_type: {
    'zh-CN': '不支持的内容类型，请使用 application/json。',
    'en-US': 'Unsupported content type: use application/json.',
  },
  internal_error: {
    'zh-CN': '服务器内部错误，请稍后重试；日志编号 {0}。',
    'en-US': 'The server could not do this; try again later. Its log has the details under {0}.',
  },
  blank_question: { 'zh-CN': '问题不能为空。', 'en-US': 'The question is blank.' },
  question_too_long: {
    'zh-CN': '问题约 {0} 个词元，最多 {1} 个。请缩短问题，或把材料放进文档。',
    'en-US':
      'The question has about {0} tokens; at most {1} are possible. Shorten it or put the material into a document.',
  },
  busy: {
    'zh-CN': '这个会话正在回答上一个问题，请等它结束，或先停止它。',
    'en-US': 'This conversation is still answering; wait until it has ended, or stop it.',
  },
  chat_not_found: { 'zh-CN': '会话不存在。', 'en-US': 'This conversation does not exist.' },
  record_not_found: { 'zh-CN': '对话记录不存在。', 'en-US': 'This record does not exist.' },
  compaction_stopped: {
    'zh-CN': '压缩已停止，已完成的部分已保存。',
    'en-US': 'The compaction was stopped; what it had merged stays.',
  },
  events_gone: {
    'zh-CN': '这个回答的事件流已不再保留，请读取对话记录。',
    'en-US': 'The stream of this answer is not kept any more; read the record.',
  },
  application_not_found: { 'zh-CN': '应用不存在。', 'en-US': 'This application does not exist.' },
  ...FUNCTION_MESSAGES,
} satisfies Record<string, Record<Language, string>>;

export type MessageCode = keyof typeof MESSAGES;

/** Why an answer failed, by the code of its `event: error`; in English the failure's own message says more. */
const FAILURES_ZH: Readonly<Record<string, string>> = {
  aborted: '回答已停止。',
  stopped: '回答已停止。',
  interrupted: '服务在回答过程中重启，回答没有完成，请重新提问。',
  lease_lost: '服务在回答过程中与数据库失去联系，回答没有完成，请重新提问。',
  server_stopping: '服务正在停止，请稍后再继续查看这个回答。',
  timeout: '回答超时，已终止。请重试或简化问题。',
  rate_limited: '模型服务限流或额度已用完，请稍后再试或检查账户。',
  unauthorized: '模型服务拒绝了 API 密钥，请检查密钥及其可用的模型。',
  bad_request: '模型服务拒绝了请求，请检查地址、模型名称和参数。',
  unavailable: '模型服务无法访问或出错，请检查地址、服务状态和网络后重试。',
  bad_response: '模型服务的响应不符合 OpenAI 协议，请检查地址（通常以 /v1 结尾）。',
  stream_cut: '模型在回答完成之前中断，请重新提问。',
  context_length: '内容超出模型的上下文长度，请换用更长上下文的模型或减小证据预算。',
  content_filter: '模型服务商拦截了这个回答。',
  empty_answer: '模型没有给出内容，请重新提问或更换模型。',
  internal_error: '服务器无法回答这个问题，原因见服务日志。',
};

/** A message for people; `{0}`, `{1}` … are replaced by `values`, once and literally. */
export function messageFor(code: MessageCode, language: Language, values: readonly (string | number)[] = []): string {
  return MESSAGES[code][language].replace(/\{(\d)\}/g, (_marker, index: string) => String(values[Number(index)] ?? ''));
}

/** What a failed answer says in the reader's language; an unknown code keeps its own words. */
export function failureMessage(failure: { code: string; message: string }, language: Language): string {
  return language === 'zh-CN' ? (FAILURES_ZH[failure.code] ?? failure.message) : failure.message;
}

/** The language of an Accept-Language header that comes first by weight and is known; else zh-CN. Never throws. */
export function languageOf(header: string | undefined): Language {
  const ranges = (header ?? '').split(',').map((range, place) => {
    const [tag = '', ...parameters] = range.trim().toLowerCase().split(';');
    const weight = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
    return { tag, weight: weight === undefined ? 1 : Number(weight), place };
  });
  ranges.sort((a, b) => b.weight - a.weight || a.place - b.place);
  for (const { tag, weight } of ranges) {
    if (weight > 0 && /^zh\b/.test(tag)) return 'zh-CN';
    if (weight > 0 && /^en\b/.test(tag)) return 'en-US';
  }
  return 'zh-CN';
}
