// What a turn of the conversation is, the same from its stream and from its stored record, and how both are read.
import { connectionLost, RequestError } from './client.js';
import { texts } from './texts.js';

/** Before a cut stream is asked for again, in ms; news from it starts them anew. After the last the record is read. */
const RESUME_PAUSES_MS = [500, 1000, 2000, 4000, 8000];
/** Between two looks at a record that is still being answered, in ms. */
const POLL_MS = 1500;
/** Between two tries to stop a question that is still on its way to the server, in ms, and how many there are. */
const STOP_AGAIN_MS = 300;
const STOP_TRIES = 20;
/** No answer takes longer on the server, in ms: what is still running then never ends. */
const ANSWER_DEADLINE_MS = 10 * 60_000;

/**
 * A question that was just asked. `state`: `running`, `done`, `stopped` or `failed`; `phases` are the progress frames;
 * `notice` is the key of a text on how the answer is waited for, or null; `lastEventId` is where its stream goes on;
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
    notice: null,
    isStopping: false,
    lastEventId: '',
    recordId: null,
    record: null,
  };
}

/** Takes one frame of the stream into the turn; after the last one it is not `running` any more. */
export function applyFrame(turn, { id, name, data }) {
  turn.lastEventId = id ?? turn.lastEventId;
  if (name === 'agent_status') turn.phases.push(data);
  else if (name === 'error') {
    turn.state = data.code === 'stopped' ? 'stopped' : 'failed';
    turn.error = turn.state === 'failed' ? data : null;
  } else if (name === 'message') {
    turn.recordId = data.chat_record_id;
    turn.answer += data.content;
    if (data.is_end && turn.state === 'running') turn.state = 'done';
  }
}

/** Makes the turn what its stored record says. A running one has nothing yet; what its stream said so far stays. */
export function applyRecord(turn, record) {
  turn.record = record;
  turn.recordId = record.id;
  turn.question = record.problem_text;
  turn.state = ['running', 'done', 'stopped'].includes(record.state) ? record.state : 'failed';
  const failure = record.execution_details.find((step) => step.step_type === 'error') ?? null;
  turn.error = turn.state === 'failed' ? failure : null;
  if (turn.state === 'running') return turn;
  turn.answer = failure ? withoutException(record.answer_text, failure.message) : record.answer_text;
  turn.phases = phasesOf(record);
  return turn;
}

/** A turn that was stored earlier. */
export function turnOfRecord(record) {
  return applyRecord(newTurn(record.problem_text), record);
}

/**
 * Asks the question of a turn and reads the stream to its end; where it is cut, goes on from its last event.
 * `reading`: `{client, applicationId, chatId, signal, draw(), drawFrame(frame)}`; `signal` fires when the conversation
 * is left, and nothing is drawn after that. Resolves when the end was told, or the record alone has it. Rejects
 * with RequestError, `connection_lost` after the last pause, and with what the drawing throws.
 */
export function readAnswer(turn, reading) {
  return keepReading(turn, reading, async () => {
    const { client, chatId, signal } = reading;
    const onEvent = (frame) => takeFrame(turn, reading, frame);
    try {
      await client.ask(chatId, turn.question, { signal, onEvent });
    } catch (error) {
      if (error.kind !== 'connection_lost') throw error;
    }
  });
}

/** As `readAnswer`, for a question that was asked before the page was loaded: its stream from the beginning. */
export function followAnswer(turn, reading) {
  return keepReading(turn, reading, () => followOnce(turn, reading));
}

/** Looks at a stored record until its answer is there. Rejects where the server can't be asked or never has it. */
export async function readRecord(turn, { client, applicationId, chatId, signal, draw }) {
  const deadlineMs = Date.now() + ANSWER_DEADLINE_MS;
  for (;;) {
    const record = await client.record(applicationId, chatId, turn.recordId);
    if (signal.aborted) return;
    applyRecord(turn, record);
    if (turn.state !== 'running') return;
    if (Date.now() >= deadlineMs) throw new RequestError('unfinished', texts().errors.unfinished);
    turn.notice = 'stillAnswering';
    draw();
    await pause(POLL_MS);
    if (signal.aborted) return;
  }
}

/**
 * Asks the server to stop the answer; its stream says when it has ended. `requestStop()`: one try, null where there is
 * no conversation yet. Resolves with false where the answer goes on after all; rejects where the server can't be asked.
 */
export async function stopAnswer(turn, { signal, requestStop }) {
  for (let tries = 0; tries < STOP_TRIES && turn.state === 'running' && !signal.aborted; tries += 1) {
    const reply = await requestStop();
    if (reply?.stopped) return !reply.running;
    await pause(STOP_AGAIN_MS);
  }
  return false;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `open` reads a stream for as long as there is one; the turn says whether it was the end. */
async function keepReading(turn, reading, open) {
  let cuts = 0;
  for (let read = open; ; read = () => followOnce(turn, reading)) {
    const before = turn.lastEventId;
    if ((await read()) === 'gone' || turn.state !== 'running' || reading.signal.aborted) return;
    if (turn.lastEventId !== before) cuts = 0;
    if (cuts === RESUME_PAUSES_MS.length) throw connectionLost();
    turn.notice = 'reconnecting';
    reading.draw();
    await pause(RESUME_PAUSES_MS[cuts]);
    if (reading.signal.aborted) return;
    cuts += 1;
  }
}

/** Resolves with `gone` where the server has no such stream: trying again is of no use. */
async function followOnce(turn, reading) {
  const { client, applicationId, chatId, signal } = reading;
  try {
    turn.recordId ??= await findRecordId(turn, reading);
    const followed = { applicationId, chatId, recordId: turn.recordId, after: turn.lastEventId };
    await client.follow(followed, {
      signal,
      onOpen: () => beginFollowing(turn, reading),
      onEvent: (frame) => takeFrame(turn, reading, frame),
    });
  } catch (error) {
    if (!(error instanceof RequestError) || error.kind === 'token') throw error;
    if (error.kind === 'refused' && error.code < 500) return 'gone';
  }
  return 'read';
}

/** A stream that broke before its first word did not say which record it is. */
async function findRecordId(turn, { client, applicationId, chatId }) {
  const { records } = await client.lastRecords(applicationId, chatId, 1);
  if (records[0]?.problem_text !== turn.question) throw connectionLost();
  return records[0].id;
}

function beginFollowing(turn, { signal, draw }) {
  if (signal.aborted) return;
  turn.notice = null;
  if (turn.lastEventId === '') Object.assign(turn, { phases: [], answer: '' });
  draw();
}

function takeFrame(turn, { signal, drawFrame }, frame) {
  if (signal.aborted) return;
  // Said to a reader of another server's answer, which goes on.
  if (frame.name === 'error' && frame.data.code === 'server_stopping') throw connectionLost();
  applyFrame(turn, frame);
  drawFrame(frame);
}

function withoutException(answer, message) {
  const exception = `Exception:${message}`;
  return answer.endsWith(exception) ? answer.slice(0, -exception.length) : answer;
}

/** The progress frames that this record's stream had (R85). */
function phasesOf(record) {
  const phases = [{ phase: 'context' }];
  if ((record.context_info?.compaction_reason ?? 'none') !== 'none') phases.push({ phase: 'compacting' });
  for (const { round, queries, sufficient, missing } of record.agent_trace) {
    phases.push({ phase: 'retrieving', round, queries }, { phase: 'assessed', round, sufficient, missing });
  }
  const { agent_stop_reason: stop_reason } = record;
  if (stop_reason !== null) phases.push({ phase: 'generating', rounds: record.agent_trace.length, stop_reason });
  return phases;
}
