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

interface CheckedEvents {
  record_id: string;
  first_number: number;
  last_number: number;
  last_kind: string;
}

/** Everything the tables say of one conversation. */
interface Conversation {
  records: CheckedRecord[];
  context: CheckedContext | null;
  /** By record, then by number. */
  events: CheckedEvents[];
}

/**
 * Compares what the tables say with what was said before the crash. Returns what is wrong, in words; nothing where
 * no round is lost or merged twice, the watermark did not go back, every merge counts once, and what was confirmed
 * is there.
 */
export async function checkConversation(database: Database, planted: PlantedChat): Promise<string[]> {
  const conversation = await readConversation(database, planted.chatId);
  return [
    ...recordProblems(conversation, planted),
    ...contextProblems(conversation, planted),
    ...eventProblems(conversation, planted),
  ];
}

async function readConversation(database: Database, chatId: string): Promise<Conversation> {
  const records = await database.query<CheckedRecord>(
    `select id, index, state, problem_text, answer_text from max_kb_application_chat_record where chat_id = $1 order by index`,
    [chatId],
  );
  const [context] = await database.query<CheckedContext>('select * from max_kb_chat_context where chat_id = $1', [
    chatId,
  ]);
  const events = await database.query<CheckedEvents>(
    `select record_id, first_number, last_number, events -> -1 ->> 'kind' as last_kind
     from max_kb_chat_event where record_id in (select id from max_kb_application_chat_record where chat_id = $1)
     order by record_id, first_number`,
    [chatId],
  );
  return { records, context: context ?? null, events };
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

/** An answer that was asked for has a stream without gaps, and an end exactly where it ended. */
function eventProblems({ records, events }: Conversation, { rounds }: PlantedChat): string[] {
  return records
    .filter(({ index }) => index > rounds)
    .flatMap(({ id, index, state }) => {
      const own = events.filter(({ record_id }) => record_id === id);
      const isGapless = own.every(({ first_number }, place) => first_number === (own[place - 1]?.last_number ?? 0) + 1);
      const hasEnd = own.at(-1)?.last_kind === 'answer-end';
      return [
        ...(isGapless ? [] : [`the stream of record ${index} has gaps`]),
        ...(hasEnd === (state === 'done')
          ? []
          : [`the stream of record ${index}, ${state}, ends as ${own.at(-1)?.last_kind}`]),
      ];
    });
}
