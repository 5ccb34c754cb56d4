// What a turn of the conversation is: the same from its stream and from its stored record.

/**
 * A question that was just asked. `state`: `running`, `done` or `failed`; `phases` are the progress frames;
 * `record` is null until the stored record was read.
 */
export function newTurn(question) {
  return {
    key: `t${crypto.randomUUID()}`,
    question,
    state: 'running',
    phases: [],
    answer: '',
    error: null,
    recordId: null,
    record: null,
  };
}

/** Takes one frame of the stream into the turn. Returns true where the stream said it was the last. */
export function applyFrame(turn, { name, data }) {
  if (name === 'agent_status') turn.phases.push(data);
  else if (name === 'error') {
    turn.error = data;
    turn.state = 'failed';
  } else if (name === 'message') {
    turn.recordId = data.chat_record_id;
    turn.answer += data.content;
    if (data.is_end && turn.state === 'running') turn.state = 'done';
    return data.is_end;
  }
  return false;
}

/** Makes the turn what its stored record says. */
export function applyRecord(turn, record) {
  turn.record = record;
  turn.recordId = record.id;
  turn.question = record.problem_text;
  turn.state = record.state === 'running' ? 'running' : record.state === 'done' ? 'done' : 'failed';
  turn.error = record.execution_details.find((step) => step.step_type === 'error') ?? null;
  turn.answer = turn.error ? withoutException(record.answer_text, turn.error.message) : record.answer_text;
  if (record.state !== 'running' || turn.phases.length === 0) turn.phases = phasesOf(record);
  return turn;
}

/** A turn that was stored earlier. */
export function turnOfRecord(record) {
  return applyRecord(newTurn(record.problem_text), record);
}

function withoutException(answer, message) {
  const exception = `Exception:${message}`;
  return answer.endsWith(exception) ? answer.slice(0, -exception.length) : answer;
}

/** The progress frames that this record's stream had (R85). */
function phasesOf(record) {
  const phases = [{ phase: 'context' }];
  if (record.context_info?.compacted) phases.push({ phase: 'compacting' });
  for (const { round, queries, sufficient, missing } of record.agent_trace) {
    phases.push({ phase: 'retrieving', round, queries }, { phase: 'assessed', round, sufficient, missing });
  }
  const { agent_stop_reason: stop_reason } = record;
  if (stop_reason !== null) phases.push({ phase: 'generating', rounds: record.agent_trace.length, stop_reason });
  return phases;
}
