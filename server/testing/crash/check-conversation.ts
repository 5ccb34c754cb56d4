import type { Database } from '../../database/database.ts';
import type { PlantedChat } from './crash-protocol.ts';
import { MARKED_ANSWER, markedQuestion } from './marking-model.ts';

interface CheckedRecord {
  id: string;
  index: number;
  state: string;
  problem_text: string;
  answer_text: string | null;
}

interface CheckedContext {
  summary: string;
  through_record_id: string;
  through_index: number;
  compacted_rounds: number;
  revision: number;
}

/** Everything the tables say of one conversation. */
interface Conversation {
  records: CheckedRecord[];
  context: CheckedContext | null;
}

/**
 * Compares what the tables say with what was said before the crash. Returns what is wrong, in words; nothing where
 * no round is lost or merged twice, the watermark did not go back, every merge counts once, and what was confirmed
 * is there.
 */
export async function checkConversation(database: Database, planted: PlantedChat): Promise<string[]> {
  const conversation = await readConversation(database, planted.chatId);
  return [...recordProblems(conversation, planted), ...contextProblems(conversation, planted)];
}

async function readConversation(database: Database, chatId: string): Promise<Conversation> {
  const records = await database.query<CheckedRecord>(
    `select id, index, state, problem_text, answer_text from max_kb_application_chat_record where chat_id = $1 order by index`,
    [chatId],
  );
  const [context] = await database.query<CheckedContext>('select * from max_kb_chat_context where chat_id = $1', [
    chatId,
  ]);
  return { records, context: context ?? null };
}

function recordProblems({ records }: Conversation, { rounds, recordId, hasEnded }: PlantedChat): string[] {
  const problems: string[] = [];
  records.forEach((record, place) => {
    if (record.index !== place + 1) problems.push(`record ${place + 1} has the place ${record.index}`);
    if (record.state === 'running') problems.push(`record ${record.index} is still running`);
    if (record.state === 'done' && record.answer_text !== MARKED_ANSWER) {
      problems.push(`the answer of record ${record.index} is not whole: ${record.answer_text}`);
    }
  });
  for (let n = 1; n <= rounds; n += 1) {
    if (records[n - 1]?.problem_text !== markedQuestion(n)) problems.push(`round ${n} is lost`);
  }
  const asked = records.find(({ id }) => id === recordId);
  if (recordId !== null && !asked) problems.push('the accepted question is lost');
  if (hasEnded && asked?.state !== 'done') problems.push(`the answer that ended is ${asked?.state}`);
  return problems;
}

function contextProblems({ records, context }: Conversation, planted: PlantedChat): string[] {
  if (context === null) return planted.revision > 0 ? ['the confirmed summary is lost'] : [];
  const problems: string[] = [];
  const merged = (context.summary.match(/\d+/g) ?? []).map(Number);
  const merges = context.summary.split('|').length - 1;
  const expected = records
    .filter(({ index, state, answer_text }) => index <= context.through_index && state === 'done' && answer_text)
    .map(({ problem_text }) => Number(/^#(\d+)/.exec(problem_text)?.[1]));
  if (merged.join() !== expected.join()) problems.push(`merged are ${merged}, not ${expected}`);
  if (context.revision !== merges) problems.push(`revision ${context.revision} after ${merges} merges`);
  if (context.compacted_rounds !== merged.length)
    problems.push(`${context.compacted_rounds} rounds are said to be merged`);
  if (context.revision < planted.revision) problems.push(`revision ${context.revision}, ${planted.revision} confirmed`);
  const through = records.find(({ id }) => id === context.through_record_id);
  if (through?.index !== context.through_index) problems.push('the watermark is not its record');
  return problems;
}
