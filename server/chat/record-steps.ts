import type { CitedParagraph } from '../../contract/chat.ts';
import type { Evidence } from './agent/evidence.ts';
import type { AnswerProgress } from './answer-progress.ts';
import type { AskedQuestion } from './ask-question.ts';
import type { RecordDetails } from './chat-store.ts';

/** The steps of an answer in MaxKB's shape, which its log view reads (maxkb-v1-api.md section 4.2). */
export function recordSteps(
  asked: AskedQuestion,
  progress: Pick<AnswerProgress, 'rewritten' | 'evidence' | 'answer' | 'finishReason'>,
): RecordDetails {
  const { rewritten, evidence } = progress;
  return {
    ...(rewritten && (rewritten.rewritten || rewritten.note !== null)
      ? {
          problem_padding: {
            step_type: 'problem_padding',
            problem_text: asked.message,
            padding_problem_text: rewritten.query,
            note: rewritten.note,
            message_tokens: rewritten.usage.promptTokens,
            answer_tokens: rewritten.usage.completionTokens,
            cost: 0,
          },
        }
      : {}),
    search_step: {
      step_type: 'search_step',
      problem_text: rewritten?.query ?? asked.message,
      paragraph_list: evidence.map(citedParagraph),
      message_tokens: 0,
      answer_tokens: 0,
      cost: 0,
    },
    chat_step: {
      step_type: 'chat_step',
      message_list: [
        { role: 'user', content: asked.message },
        { role: 'ai', content: progress.answer },
      ],
      finish_reason: progress.finishReason,
      cost: 0,
    },
  };
}

function citedParagraph(evidence: Evidence): CitedParagraph {
  return {
    id: evidence.paragraphId,
    document_id: evidence.documentId,
    dataset_id: evidence.datasetId,
    content: evidence.content,
    title: evidence.title,
    status: ['nn2'],
    is_active: true,
    comprehensive_score: evidence.comprehensiveScore,
    similarity: evidence.similarity,
    dataset_name: evidence.datasetName,
    document_name: evidence.documentName,
    meta: '{}',
  };
}
