import { Client, RequestError } from './client.js';
import { followAnswer, newTurn, readAnswer, readRecord, stopAnswer, turnOfRecord } from './conversation.js';
import {
  announce,
  bringToTop,
  drawApplications,
  drawBadge,
  drawComposer,
  drawTexts,
  drawWelcome,
  part,
  showNotice,
} from './page-parts.js';
import { readStoredChat, storeChat, storeToken, takeToken } from './stored.js';
import { switchLanguage, texts } from './texts.js';
import { phaseLine } from './trace-view.js';
import { outcomeLine, TurnView } from './turn-view.js';

const RESTORED_RECORDS = 50;
const page = {
  client: new Client(takeToken()),
  offline: null,
  applications: [],
  application: null,
  chatId: null,
  /** Of the conversation that is shown; aborted when it is left, so that late replies for it change nothing. */
  shown: new AbortController(),
  turns: [],
  views: new Map(),
  /** The turn whose answer is awaited, or null. */
  answering: null,
};

async function start() {
  clearTurns();
  const { signal } = page.shown;
  part('composer').hidden = true;
  draw();
  showNotice('');
  try {
    const { offline } = await page.client.profile();
    if (signal.aborted) return;
    page.offline = offline;
    drawBadge(offline);
    if (page.client.token === '') return showSignIn('');
    const applications = await page.client.applications();
    if (signal.aborted) return;
    page.applications = applications;
  } catch (error) {
    if (!signal.aborted) report(error);
    return;
  }
  part('sign-in').hidden = true;
  const stored = readStoredChat();
  page.application =
    page.applications.find((application) => application.id === stored.applicationId) ?? page.applications[0] ?? null;
  drawApplications(page);
  if (stored.chatId && stored.applicationId === page.application?.id) await restore(stored.chatId);
  if (!signal.aborted) showComposer();
}

/** Once the stored conversation is there, or was left: a question asked before would stand in the midst of it. */
function showComposer() {
  part('composer').hidden = !page.application || !part('sign-in').hidden;
  draw();
  part('question').focus();
}

async function restore(chatId) {
  const { signal } = page.shown;
  try {
    const { total, records } = await page.client.lastRecords(page.application.id, chatId, RESTORED_RECORDS);
    if (signal.aborted) return;
    page.chatId = chatId;
    part('earlier').hidden = total <= records.length;
    for (const record of records) {
      const turn = turnOfRecord(record);
      addTurn(turn);
      if (turn.state === 'running') void untilAnswered(turn, followAnswer);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error.kind !== 'refused') return report(error);
    newConversation();
    showNotice(texts().errors.chat_gone);
  }
}

/**
 * Holds the question field while `read(turn, reading)` brings the answer, and frees it whatever happens. After the
 * stream the stored record has the last word: the same is shown now and after a reload.
 */
async function untilAnswered(turn, read) {
  const { signal } = page.shown;
  setAnswering(turn);
  try {
    const reading = await readingOf(turn, signal);
    if (signal.aborted) return;
    await read(turn, reading).catch((error) => {
      if (!signal.aborted) fail(turn, error);
    });
    if (!signal.aborted && turn.recordId !== null) await readRecord(turn, reading);
  } catch (error) {
    // What went wrong first says more, unless it is the page itself.
    const isTold = turn.error !== null && error instanceof RequestError;
    if (!signal.aborted && !isTold) fail(turn, error);
  } finally {
    if (!signal.aborted) finish(turn);
  }
}

/** What an answer is read with; the conversation is opened with its first question. */
async function readingOf(turn, signal) {
  if (page.chatId === null) {
    const chatId = await page.client.openChat(page.application.id);
    if (!signal.aborted) {
      page.chatId = chatId;
      storeChat(page);
    }
  }
  const { client, application, chatId } = page;
  return {
    client,
    applicationId: application.id,
    chatId,
    signal,
    draw: () => drawWaiting(turn),
    drawFrame: (frame) => drawFrame(turn, frame),
  };
}

async function ask(question) {
  if (question.trim() === '' || page.answering || part('composer').hidden) return;
  showNotice('');
  const turn = newTurn(question.trim());
  addTurn(turn);
  bringToTop(page.views.get(turn).element);
  part('question').value = '';
  await untilAnswered(turn, readAnswer);
}

/** Stops the answer that is awaited; its stream says when it has ended. */
async function stop() {
  const turn = page.answering;
  if (turn === null || turn.isStopping) return;
  const { signal } = page.shown;
  turn.isStopping = true;
  setAnswering(turn);
  try {
    const requestStop = () => page.chatId && page.client.stop(page.application.id, page.chatId);
    turn.isStopping = await stopAnswer(turn, { signal, requestStop });
  } catch (error) {
    turn.isStopping = false;
    if (!signal.aborted) report(error);
  }
  if (page.answering === turn) setAnswering(turn);
}

function finish(turn) {
  setAnswering(null);
  page.views.get(turn).draw();
  announce(outcomeLine(turn));
}

function drawWaiting(turn) {
  page.views.get(turn).draw();
  if (turn.notice) announce(texts()[turn.notice]);
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
  const view = new TurnView(turn, {
    onAskAgain: (question) => {
      part('question').value = question;
      void ask(question);
    },
    readMemory: () => page.client.context(page.application.id, page.chatId),
  });
  page.views.set(turn, view);
  part('turns').append(view.element);
  part('welcome').hidden = true;
}

function setAnswering(turn) {
  page.answering = turn;
  drawComposer(turn);
}

function clearTurns() {
  page.shown.abort();
  page.shown = new AbortController();
  page.chatId = null;
  page.turns = [];
  page.views.clear();
  part('turns').replaceChildren();
  part('earlier').hidden = true;
  setAnswering(null);
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

part('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  void ask(part('question').value);
});
part('stop').addEventListener('click', (event) => {
  // The second half of a double click on the button that stood here before.
  if (event.detail < 2) void stop();
});
part('composer').addEventListener('keydown', (event) => {
  // Enter that confirms a word of an input method is not ours, nor Escape that takes it back.
  if (event.isComposing) return;
  if (event.key === 'Escape' && page.answering) {
    event.preventDefault();
    void stop();
  } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    part('composer').requestSubmit();
  }
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
