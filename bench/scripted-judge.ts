import type { RecordedRequest } from '../server/testing/scripted-model-server.ts';
import { reply, type Step } from '../server/testing/scripted-steps.ts';
import type { BenchQuestion, CorpusParagraph, QuestionStep } from './bench-data.ts';

/**
 * A judge that knows the gold paragraphs and sees only what the prompt shows: a part of a question is covered
 * once its paragraph stands there. It asks the first two open parts whose dependencies are covered, with the
 * answers of earlier parts filled in, as in MuSiQue's decomposition.
 */
export function scriptedJudge(
  questions: readonly BenchQuestion[],
  paragraphs: ReadonlyMap<string, CorpusParagraph>,
): (request: RecordedRequest) => Step {
  return (request) => {
    const prompt = promptOf(request);
    const question = questions.find((candidate) => prompt.includes(`<question>\n${candidate.question.trim()}`));
    if (!question) return reply(JSON.stringify({ sufficient: false, missing: 'unknown question', queries: [] }));
    const covered = question.steps.map((step) => step.gold.every((key) => shows(prompt, paragraphs.get(key))));
    const open = question.steps.filter((_, index) => !covered[index]);
    const queries = open
      .filter((step) => step.dependsOn.every((index) => covered[index]))
      .map((step) => filledIn(step, question.steps))
      .slice(0, 2);
    const missing = open.map((step) => step.question).join('\n');
    return reply(JSON.stringify({ sufficient: open.length === 0, missing, queries }));
  };
}

function promptOf({ body }: RecordedRequest): string {
  const messages = body['messages'];
  if (!Array.isArray(messages)) return '';
  return messages.map((message: { content?: unknown }) => String(message.content ?? '')).join('\n');
}

function shows(prompt: string, paragraph: CorpusParagraph | undefined): boolean {
  return paragraph !== undefined && prompt.includes(paragraph.content.trim());
}

function filledIn(step: QuestionStep, steps: readonly QuestionStep[]): string {
  return step.question.replace(/#(\d+)/g, (whole, place: string) => steps[Number(place) - 1]?.answer ?? whole);
}
