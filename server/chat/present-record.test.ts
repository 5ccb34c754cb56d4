import { describe, expect, it } from 'vitest';
import { recordDetail } from '../../contract/chat.ts';
import type { RecordRow } from './chat-store.ts';
import { presentRecord } from './present-record.ts';

function buildRow(changes: Partial<RecordRow> = {}): RecordRow {
  return {
    id: 'record',
    chat_id: 'chat',
    index: 1,
    state: 'done',
    vote_status: '-1',
    problem_text: '年休假有几天？',
    answer_text: '10天。[1]',
    reasoning_content: '',
    message_tokens: 7,
    answer_tokens: 5,
    run_time: 1.5,
    const: 0,
    padding_problem_text: null,
    details: {},
    citations: [],
    agent_trace: [],
    agent_stop_reason: null,
    context_info: null,
    improve_paragraph_id_list: [],
    create_time: new Date('2026-12-01T08:00:00.120Z'),
    update_time: new Date('2026-12-01T08:00:01Z'),
    ...changes,
  };
}

describe('presentRecord', () => {
  it('has the shape of the contract and times of one format', () => {
    const record = presentRecord(buildRow(), 'zh-CN');

    expect(recordDetail.strict().parse(record)).toEqual(record);
    expect(record.create_time).toBe('2026-12-01T08:00:00.120Z');
    expect(record.update_time).toBe('2026-12-01T08:00:01.000Z');
    expect(record.answer_text_list[0]?.[0]).toMatchObject({ content: '10天。[1]', view_type: 'ai-chat-node' });
  });

  it('shows of a failure what its stream showed, in the language of the reader', () => {
    const error = { code: 'stream_cut', message: 'The model broke off.' };
    const row = buildRow({ state: 'failed', answer_text: '10', details: { error } });

    expect(presentRecord(row, 'en-US').answer_text).toBe('10Exception:The model broke off.');
    expect(presentRecord(row, 'zh-CN').answer_text).toBe('10Exception:模型在回答完成之前中断，请重新提问。');
    expect(presentRecord(row, 'en-US').execution_details).toEqual([{ step_type: 'error', ...error }]);
  });

  it('has an empty text while the answer is not there, and says when it never will be', () => {
    const running = presentRecord(buildRow({ state: 'running', answer_text: null }), 'zh-CN');
    const interrupted = presentRecord(buildRow({ state: 'interrupted', answer_text: null }), 'zh-CN');

    expect(running).toMatchObject({ state: 'running', answer_text: '', execution_details: [] });
    expect(interrupted.answer_text).toContain('Exception:服务在回答过程中重启');
  });

  it('names each dataset of the paragraphs once', () => {
    const paragraph = {
      ...{ id: 'p', document_id: 'd', dataset_id: 's', content: 'c', title: 't', status: ['nn2'], is_active: true },
      ...{ comprehensive_score: 1, similarity: 1, dataset_name: '制度', document_name: 'a.md', meta: '{}' },
    };
    const details = {
      search_step: { step_type: 'search_step', paragraph_list: [paragraph, { ...paragraph, id: 'q' }] },
    };

    const record = presentRecord(buildRow({ details }), 'zh-CN');

    expect(record.dataset_list).toEqual([{ id: 's', name: '制度' }]);
    expect(record.paragraph_list.map(({ id }) => id)).toEqual(['p', 'q']);
  });
});
