import { Client, RequestError } from './client.js';
import { applyFrame, applyRecord, newTurn, turnOfRecord } from './conversation.js';
import { element } from './element.js';
import { announce, drawBadge, drawTexts, drawWelcome, part, showNotice } from './page-parts.js';
import { switchLanguage, texts } from './texts.js';
import { phaseLine } from './trace-view.js';
import { TurnView } from './turn-view.js';

const RESTORED_RECORDS = 50;
/** Between two looks at a record that is still being answered, in ms. */
const POLL_MS = 1500;

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

/** The token comes in the fragment, which no server and no log sees, and leaves the address bar at once. */
function takeToken() {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token) {
    sessionStorage.setItem('knowhy.token', decodeURIComponent(token));
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem('knowhy.token') ?? '';
}

async function start() {
  clearTurns();
  draw();
  showNotice('');
  try {
    page.offline = (await page.client.profile()).offline;
    drawBadge(page.offline);
    if (page.client.token === '') return showSignIn('');
    page.applications = await page.client.applications();
  } catch (error) {
    return report(error);
  }
  part('sign-in').hidden = true;
  const stored = readStoredChat();
  page.application =
    page.applications.find((application) => application.id === stored.applicationId) ?? page.applications[0] ?? null;
  drawApplications();
  part('composer').hidden = !page.application;
  if (stored.chatId && stored.applicationId === page.application?.id) await restore(stored.chatId);
  draw();
  part('question').focus();
}

function readStoredChat() {
  try {
    return JSON.parse(sessionStorage.getItem('knowhy.chat') ?? '{}');
  } catch {
    return {};
  }
}

function storeChat() {
  const { application, chatId } = page;
  sessionStorage.setItem('knowhy.chat', JSON.stringify({ applicationId: application?.id, chatId }));
}

async function restore(chatId) {
  try {
    const { total, records } = await page.client.lastRecords(page.application.id, chatId, RESTORED_RECORDS);
    page.chatId = chatId;
    part('earlier').hidden = total <= records.length;
    for (const record of records) {
      const turn = turnOfRecord(record);
      addTurn(turn);
      if (turn.state === 'running') void followRestored(turn);
    }
  } catch (error) {
    if (error.kind !== 'refused') return report(error);
    newConversation();
    showNotice(texts().errors.chat_gone);
  }
}

/** Looks at a stored record until its answer is there. Rejects where the server can't be asked. */
async function follow(turn, generation) {
  for (;;) {
    const record = await page.client.record(page.application.id, page.chatId, turn.recordId);
    if (generation !== page.generation) return;
    applyRecord(turn, record);
    if (turn.state !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (generation !== page.generation) return;
  }
}

/** A question that was being answered when the page was loaded. */
async function followRestored(turn) {
  const { generation } = page;
  setAnswering(true);
  await follow(turn, generation).catch((error) => fail(turn, error));
  if (generation === page.generation) finish(turn);
}

async function ask(question) {
  if (question.trim() === '' || page.answering) return;
  const { generation } = page;
  showNotice('');
  setAnswering(true);
  const turn = newTurn(question.trim());
  addTurn(turn);
  page.views.get(turn).element.scrollIntoView({ block: 'start', behavior: scrollBehavior() });
  part('question').value = '';
  try {
    await readAnswer(turn, generation);
  } catch (error) {
    if (generation === page.generation) fail(turn, error);
  }
  if (generation !== page.generation) return;
  await readRecord(turn, generation);
  if (generation === page.generation) finish(turn);
}

/** After the stream the stored record has the last word: the same is shown now and after a reload. */
async function readRecord(turn, generation) {
  try {
    if (turn.error?.code === 'connection_lost') turn.recordId ??= await findRecordId(turn.question);
    if (turn.recordId !== null) await follow(turn, generation);
  } catch (error) {
    if (generation === page.generation && turn.error === null) fail(turn, error);
  }
}

/** A stream that broke before its first word did not say which record it is. */
async function findRecordId(question) {
  const { records } = await page.client.lastRecords(page.application.id, page.chatId, 1);
  return records[0]?.problem_text === question ? records[0].id : null;
}

function finish(turn) {
  page.views.get(turn).draw();
  setAnswering(false);
  announce(turn.error ? turn.error.message : texts().answerReady(turn.record?.citations.length ?? 0));
}

async function readAnswer(turn, generation) {
  if (page.chatId === null) {
    const chatId = await page.client.openChat(page.application.id);
    if (generation !== page.generation) return;
    page.chatId = chatId;
    storeChat();
  }
  let ended = false;
  const read = page.client.ask(page.chatId, turn.question, (frame) => {
    if (generation !== page.generation) return;
    ended = applyFrame(turn, frame) || ended;
    drawFrame(turn, frame);
  });
  // A broken connection and a stream without its end are one: the server goes on, the record will tell.
  await read.catch((error) => {
    if (error instanceof RequestError) throw error;
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

function fail(turn, error) {
  turn.state = 'failed';
  if (!(error instanceof RequestError)) throw error;
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
  storeChat();
  draw();
  part('question').focus();
}

function showSignIn(message) {
  part('sign-in').hidden = false;
  part('composer').hidden = true;
  part('welcome').hidden = true;
  showNotice(message);
  part('token').focus();
}

function drawApplications() {
  const select = part('application');
  select.replaceChildren(
    ...page.applications.map((application) => element('option', { value: application.id }, application.name)),
  );
  select.value = page.application?.id ?? '';
  select.disabled = page.applications.length < 2;
  for (const id of ['application', 'new-conversation']) part(id).hidden = page.application === null;
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
  sessionStorage.setItem('knowhy.token', page.client.token);
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
