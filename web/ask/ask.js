import { Client, RequestError } from './client.js';
import { applyFrame, applyRecord, newTurn, turnOfRecord } from './conversation.js';
import { announce, drawApplications, drawBadge, drawTexts, drawWelcome, part, showNotice } from './page-parts.js';
import { readStoredChat, storeChat, storeToken, takeToken } from './stored.js';
import { switchLanguage, texts } from './texts.js';
import { phaseLine } from './trace-view.js';
import { TurnView } from './turn-view.js';

const RESTORED_RECORDS = 50;
/** Between two looks at a record that is still being answered, in ms. */
const POLL_MS = 1500;
/** No answer takes longer on the server, in ms: what is still running then never ends. */
const ANSWER_DEADLINE_MS = 10 * 60_000;

const page = {
  client: new Client(takeToken()),
  offline: null,
  applications: [],
  application: null,
  chatId: null,
  /** Grows with every conversation, so that late replies for an earlier one are told apart. */
  generation: 0,
  turns: [],
  views: new Map(),
  answering: false,
};

async function start() {
  clearTurns();
  const { generation } = page;
  part('composer').hidden = true;
  draw();
  showNotice('');
  try {
    const { offline } = await page.client.profile();
    if (generation !== page.generation) return;
    page.offline = offline;
    drawBadge(offline);
    if (page.client.token === '') return showSignIn('');
    const applications = await page.client.applications();
    if (generation !== page.generation) return;
    page.applications = applications;
  } catch (error) {
    if (generation === page.generation) report(error);
    return;
  }
  part('sign-in').hidden = true;
  const stored = readStoredChat();
  page.application =
    page.applications.find((application) => application.id === stored.applicationId) ?? page.applications[0] ?? null;
  drawApplications(page);
  if (stored.chatId && stored.applicationId === page.application?.id) await restore(stored.chatId);
  if (generation === page.generation) showComposer();
}

/** Once the stored conversation is there, or was left: a question asked before would stand in the midst of it. */
function showComposer() {
  part('composer').hidden = !page.application || !part('sign-in').hidden;
  draw();
  part('question').focus();
}

async function restore(chatId) {
  const { generation } = page;
  try {
    const { total, records } = await page.client.lastRecords(page.application.id, chatId, RESTORED_RECORDS);
    if (generation !== page.generation) return;
    page.chatId = chatId;
    part('earlier').hidden = total <= records.length;
    for (const record of records) {
      const turn = turnOfRecord(record);
      addTurn(turn);
      if (turn.state === 'running') void followRestored(turn);
    }
  } catch (error) {
    if (generation !== page.generation) return;
    if (error.kind !== 'refused') return report(error);
    newConversation();
    showNotice(texts().errors.chat_gone);
  }
}

/** Looks at a stored record until its answer is there. Rejects where the server can't be asked or never has it. */
async function follow(turn, generation) {
  const deadlineMs = Date.now() + ANSWER_DEADLINE_MS;
  for (;;) {
    const record = await page.client.record(page.application.id, page.chatId, turn.recordId);
    if (generation !== page.generation) return;
    applyRecord(turn, record);
    if (turn.state !== 'running') return;
    if (Date.now() >= deadlineMs) throw new RequestError('unfinished', texts().errors.unfinished);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (generation !== page.generation) return;
  }
}

/** Holds the question field while an answer is awaited, and frees it whatever happens. */
async function untilAnswered(turn, work) {
  const { generation } = page;
  setAnswering(true);
  try {
    await work(generation);
  } catch (error) {
    if (generation === page.generation) fail(turn, error);
  } finally {
    if (generation === page.generation) finish(turn);
  }
}

/** A question that was being answered when the page was loaded. */
function followRestored(turn) {
  return untilAnswered(turn, (generation) => follow(turn, generation));
}

async function ask(question) {
  if (question.trim() === '' || page.answering || part('composer').hidden) return;
  showNotice('');
  const turn = newTurn(question.trim());
  addTurn(turn);
  page.views.get(turn).element.scrollIntoView({ block: 'start', behavior: scrollBehavior() });
  part('question').value = '';
  await untilAnswered(turn, async (generation) => {
    try {
      await readAnswer(turn, generation);
    } catch (error) {
      if (generation === page.generation) fail(turn, error);
    }
    if (generation === page.generation) await readRecord(turn, generation);
  });
}

/** After the stream the stored record has the last word: the same is shown now and after a reload. */
async function readRecord(turn, generation) {
  try {
    if (turn.error?.code === 'connection_lost') turn.recordId ??= await findRecordId(turn.question);
    if (turn.recordId !== null) await follow(turn, generation);
  } catch (error) {
    // What went wrong first says more, unless it is the page itself.
    const isTold = turn.error !== null && error instanceof RequestError;
    if (generation === page.generation && !isTold) fail(turn, error);
  }
}

/** A stream that broke before its first word did not say which record it is. */
async function findRecordId(question) {
  const { records } = await page.client.lastRecords(page.application.id, page.chatId, 1);
  return records[0]?.problem_text === question ? records[0].id : null;
}

function finish(turn) {
  setAnswering(false);
  page.views.get(turn).draw();
  announce(turn.error ? turn.error.message : texts().answerReady(turn.record?.citations.length ?? 0));
}

async function readAnswer(turn, generation) {
  if (page.chatId === null) {
    const chatId = await page.client.openChat(page.application.id);
    if (generation !== page.generation) return;
    page.chatId = chatId;
    storeChat(page);
  }
  let ended = false;
  const read = page.client.ask(page.chatId, turn.question, (frame) => {
    if (generation !== page.generation) return;
    ended = applyFrame(turn, frame) || ended;
    drawFrame(turn, frame);
  });
  // A broken connection and a stream without its end are one: the server goes on, the record will tell.
  await read.catch((error) => {
    if (error.kind !== 'connection_lost') throw error;
  });
  if (!ended && turn.state === 'running') {
    throw new RequestError('connection_lost', texts().errors.connection_lost);
  }
}

function drawFrame(turn, frame) {
  const view = page.views.get(turn);
  if (frame.name === 'agent_status') {
    view.drawProgress();
    announce(phaseLine(frame.data));
  } else if (frame.name === 'error') view.draw();
  else if (frame.data.content !== '') view.drawAnswerSoon();
}

/** Shows why a turn failed. A mistake of the page is shown as one and thrown on, for the browser's console. */
function fail(turn, error) {
  turn.state = 'failed';
  if (!(error instanceof RequestError)) {
    turn.error = { code: 'page', message: texts().errors.page };
    throw error;
  }
  turn.error = { code: error.code || error.kind, message: error.message };
  if (error.kind !== 'token') return;
  part('question').value = turn.question;
  showSignIn(error.message);
}

function report(error) {
  if (error.kind === 'token') showSignIn(error.message);
  else if (error instanceof RequestError) showNotice(error.message);
  else throw error;
}

function addTurn(turn) {
  page.turns.push(turn);
  const view = new TurnView(turn, (question) => {
    part('question').value = question;
    void ask(question);
  });
  page.views.set(turn, view);
  part('turns').append(view.element);
  part('welcome').hidden = true;
}

function setAnswering(answering) {
  page.answering = answering;
  part('send').disabled = answering;
  part('send').textContent = answering ? texts().sending : texts().send;
}

function clearTurns() {
  page.generation += 1;
  page.chatId = null;
  page.turns = [];
  page.views.clear();
  part('turns').replaceChildren();
  part('earlier').hidden = true;
  setAnswering(false);
}

function newConversation() {
  clearTurns();
  showNotice('');
  storeChat(page);
  showComposer();
}

function showSignIn(message) {
  part('sign-in').hidden = false;
  for (const id of ['composer', 'welcome', 'application', 'new-conversation']) part(id).hidden = true;
  showNotice(message);
  part('token').focus();
}

function draw() {
  drawTexts();
  drawBadge(page.offline);
  setAnswering(page.answering);
  for (const view of page.views.values()) view.draw();
  const isSignedIn = part('sign-in').hidden && page.offline !== null;
  part('welcome').hidden = !isSignedIn || page.turns.length > 0;
  drawWelcome({ application: page.application, offline: page.offline, onPick: (question) => void ask(question) });
}

function scrollBehavior() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
}

part('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(part('question').value);
});
part('question').addEventListener('keydown', (event) => {
  // Enter that confirms a word of an input method is not ours.
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.preventDefault();
  part('composer').requestSubmit();
});
part('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  page.client.token = part('token').value.trim();
  storeToken(page.client.token);
  part('token').value = '';
  void start();
});
part('application').addEventListener('change', (event) => {
  page.application = page.applications.find((application) => application.id === event.target.value);
  newConversation();
});
part('new-conversation').addEventListener('click', newConversation);
part('language').addEventListener('click', () => {
  switchLanguage();
  draw();
});
// The address with a token may be opened in a tab that shows the page already.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) {
    page.client.token = takeToken();
    void start();
  }
});

void start();
