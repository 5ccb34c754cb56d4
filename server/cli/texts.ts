import type { ContextInfo, StopReason } from '../../contract/chat.ts';
import { isChinese } from '../text/language.ts';

/** What `ask` says around an answer is in the language of its question. */
export type AnswerLanguage = 'zh' | 'en';

/** The language to speak to a person who asked this. */
export function answerLanguageOf(question: string): AnswerLanguage {
  return isChinese(question) ? 'zh' : 'en';
}

const STOP_REASONS: Record<StopReason, Record<AnswerLanguage, string>> = {
  sufficient: { zh: '证据已覆盖问题的每个部分', en: 'the evidence covers every part of the question' },
  max_rounds: { zh: '达到检索轮数上限', en: 'the round limit was reached' },
  duplicate_query: { zh: '后续查询与已检索的重复', en: 'the next query had been searched already' },
  no_new_evidence: { zh: '再次检索没有新的内容', en: 'another search found nothing new' },
  evidence_budget: { zh: '证据达到容量上限', en: 'the evidence is as large as it may be' },
  no_followup_query: { zh: '没有可继续检索的查询', en: 'there was nothing further to search for' },
  no_datasets: { zh: '没有可检索的资料', en: 'there are no documents to search' },
  assessment_error: { zh: '证据核查失败', en: 'the evidence could not be checked' },
};

/** A stop reason in words. */
export function stopReasonText(reason: StopReason, language: AnswerLanguage): string {
  return STOP_REASONS[reason][language];
}

/** What `ask` says around an answer. */
export const askTexts = {
  zh: {
    context: '读取对话 …',
    compacting: '正在压缩对话 …',
    retrieving: (round: number, queries: string) => `第 ${round} 轮检索：${queries}`,
    enough: '  证据充分',
    missing: (missing: string) => `  还缺：${missing}`,
    generating: (rounds: number) => `生成回答（检索 ${rounds} 轮）`,
    citations: '引用',
    unverified: '未核实',
    trace: '检索过程',
    columns: ['轮', '查询', '新增', '累计', '充分', '缺少'],
    yes: '是',
    no: '否',
    stop: '停止原因',
    none: '（无）',
    failed: '回答失败',
    newChat: (name: string) => `新对话：${name}`,
    sameChat: (name: string) => `继续对话：${name}`,
    memory: (info: ContextInfo) => {
      const failed = info.compaction_reason === 'failed' ? '；压缩没有完成，稍后重试' : '';
      const summary = info.compacted_rounds > 0 ? `，较早的 ${info.compacted_rounds} 轮在摘要中` : '';
      if (!info.enabled) return '对话: 这个应用不带入历史';
      return `对话: 带入最近 ${info.recent_rounds} 轮${summary}（约 ${info.estimated_tokens} / ${info.token_budget} 词元）${failed}`;
    },
    offline: '离线模式：关键词检索，摘录式回答，没有调用任何模型服务。',
  },
  en: {
    context: 'Reading the conversation …',
    compacting: 'Compacting context …',
    retrieving: (round: number, queries: string) => `Round ${round}, searching: ${queries}`,
    enough: '  the evidence is sufficient',
    missing: (missing: string) => `  still missing: ${missing}`,
    generating: (rounds: number) => `Answering (rounds searched: ${rounds})`,
    citations: 'Sources',
    unverified: 'unverified',
    trace: 'How it searched',
    columns: ['round', 'queries', 'new', 'total', 'enough', 'missing'],
    yes: 'yes',
    no: 'no',
    stop: 'Stopped because',
    none: '(none)',
    failed: 'The answer failed',
    newChat: (name: string) => `New conversation: ${name}`,
    sameChat: (name: string) => `Going on with the conversation: ${name}`,
    memory: (info: ContextInfo) => {
      const failed =
        info.compaction_reason === 'failed' ? '; the compaction did not come to its end, it goes on next time' : '';
      const summary = info.compacted_rounds > 0 ? `, earlier ones in the summary: ${info.compacted_rounds}` : '';
      if (!info.enabled) return 'Conversation: this application carries no history';
      return `Conversation: recent rounds carried: ${info.recent_rounds}${summary} (about ${info.estimated_tokens} of ${info.token_budget} tokens)${failed}`;
    },
    offline: 'Offline: keyword search and quoted answers; no model service was called.',
  },
} as const;
