import { element } from './element.js';
import { renderMarkdown, replaceMarkers } from './markdown.js';
import { texts } from './texts.js';
import { progressList, whyDetails } from './trace-view.js';

/** Between two drawings of a growing answer, in ms. */
const REDRAW_MS = 80;

/**
 * One question with its answer on the page. `onAskAgain(question)` is what the button of a turn without an end does,
 * `readMemory()` brings what the conversation remembers.
 */
export class TurnView {
  #turn;
  #actions;
  #timer = 0;
  #question = element('h2', { className: 'question' });
  #progress = element('div', {});
  #answer = element('div', { className: 'answer prose' });
  #rest = element('div', {});

  constructor(turn, actions) {
    this.#turn = turn;
    this.#actions = actions;
    this.element = element(
      'li',
      { className: 'turn', id: turn.key },
      this.#question,
      this.#progress,
      this.#answer,
      this.#rest,
    );
    this.draw();
  }

  /** Draws all of the turn as it is now. */
  draw() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const turn = this.#turn;
    this.element.ariaBusy = String(turn.state === 'running');
    this.element.dataset.state = turn.state;
    this.#question.replaceChildren(turn.question);
    this.drawProgress();
    this.#drawAnswer();
    this.#rest.replaceChildren(...this.#endParts());
  }

  drawProgress() {
    const { phases, state, record, answer, notice } = this.#turn;
    // Once there is a record, the details below tell the same at leisure.
    const isShown = state === 'running' || !record;
    this.#progress.replaceChildren(
      ...(isShown && phases.length > 0 ? [progressList(phases, state === 'running')] : []),
    );
    if (state === 'running' && phases.length === 0 && answer === '' && !notice) {
      this.#progress.append(element('p', { className: 'waiting' }, texts().answering));
    }
  }

  /** Draws the answer soon; deltas come faster than anybody reads. */
  drawAnswerSoon() {
    if (this.#timer === 0) {
      this.#timer = setTimeout(() => {
        this.#timer = 0;
        this.#drawAnswer();
      }, REDRAW_MS);
    }
  }

  #drawAnswer() {
    const turn = this.#turn;
    const content = renderMarkdown(turn.answer);
    const citations = new Map((turn.record?.citations ?? []).map((citation) => [citation.n, citation]));
    replaceMarkers(content, (n) => marker(n, { turn, citation: citations.get(n) }));
    this.#answer.replaceChildren(content);
    this.#answer.hidden = turn.answer === '';
  }

  #endParts() {
    const { error, record, question, state, notice } = this.#turn;
    const { onAskAgain, readMemory } = this.#actions;
    if (state === 'running') return notice ? [element('p', { className: 'waiting notice' }, texts()[notice])] : [];
    const parts = [];
    if (error) parts.push(errorBox(error, () => onAskAgain(question)));
    else if (state === 'stopped') parts.push(stoppedNote(this.#turn, () => onAskAgain(question)));
    if (record) {
      if (record.citations.length > 0) parts.push(sourceList(this.#turn));
      const reasoning = record.answer_text_list[0]?.[0]?.reasoning_content;
      if (reasoning) parts.push(reasoningDetails(reasoning));
      parts.push(whyDetails(record, readMemory));
    }
    return parts;
  }
}

/** How the turn ended, in one line for a screen reader. */
export function outcomeLine({ error, state, record }) {
  const t = texts();
  if (error) return error.message;
  return state === 'stopped' ? t.stoppedAnswer : t.answerReady(record?.citations.length ?? 0);
}

function marker(n, { turn, citation }) {
  if (citation) {
    const link = element(
      'a',
      { href: `#${sourceId(turn, n)}`, ariaLabel: texts().source(n, citation.document) },
      `[${n}]`,
    );
    return element('sup', { className: citation.verified ? 'marker' : 'marker doubtful' }, link);
  }
  // While the answer grows its sources are not known yet.
  if (!turn.record || turn.state === 'running') return element('sup', { className: 'marker' }, `[${n}]`);
  return element('sup', { className: 'marker unknown', title: texts().unknownSource }, `[${n}]`);
}

function sourceId(turn, n) {
  return `${turn.key}-source-${n}`;
}

function sourceList(turn) {
  const t = texts();
  return element(
    'section',
    { className: 'sources', ariaLabel: t.sources },
    element('h3', {}, t.sources),
    element('ol', {}, ...turn.record.citations.map((citation) => sourceCard(turn, citation))),
  );
}

function sourceCard(turn, citation) {
  const t = texts();
  const { n, document: name, title, quote, verified, reason } = citation;
  const mark = verified
    ? element('span', { className: 'mark verified' }, `✓ ${t.verified}`)
    : element('span', { className: 'mark unverified' }, `! ${t.unverified}${reason ? `: ${reasonText(reason)}` : ''}`);
  return element(
    'li',
    { id: sourceId(turn, n), className: 'source', tabIndex: -1 },
    element('span', { className: 'number', ariaHidden: 'true' }, String(n)),
    element(
      'div',
      { className: 'source-body' },
      element(
        'p',
        { className: 'source-head' },
        element('strong', {}, name),
        title ? element('span', {}, title) : '',
        mark,
      ),
      element('blockquote', {}, quote),
    ),
    element('a', { className: 'back', href: `#${turn.key}`, title: t.backToAnswer, ariaLabel: t.backToAnswer }, '↑'),
  );
}

/** The server's reasons are English and of one form. */
function reasonText(reason) {
  const what = /^"?(.*?)"? is not in the source$/.exec(reason)?.[1];
  return what === undefined ? reason : texts().notInSource(what);
}

function reasoningDetails(reasoning) {
  const { reasoning: title } = texts();
  return element(
    'details',
    { className: 'why' },
    element('summary', {}, title),
    element('p', { className: 'plain' }, reasoning),
  );
}

function errorBox(error, onAskAgain) {
  return element(
    'div',
    { className: 'failure' },
    element('p', {}, element('strong', {}, texts().errorTitle)),
    element('p', {}, error.message),
    askAgainButton(onAskAgain),
  );
}

/** Nothing went wrong: somebody wanted no more. */
function stoppedNote({ answer }, onAskAgain) {
  const t = texts();
  return element(
    'div',
    { className: 'stopped' },
    element('p', {}, answer.trim() === '' ? t.stoppedEmpty : t.stoppedAnswer),
    askAgainButton(onAskAgain),
  );
}

function askAgainButton(onAskAgain) {
  const button = element('button', { type: 'button', className: 'quiet' }, texts().askAgain);
  button.addEventListener('click', onAskAgain);
  return button;
}
