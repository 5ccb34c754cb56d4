import { element } from './element.js';
import { renderMarkdown, replaceMarkers } from './markdown.js';
import { texts } from './texts.js';
import { progressList, whyDetails } from './trace-view.js';

/** Between two drawings of a growing answer, in ms. */
const REDRAW_MS = 80;

/** One question with its answer on the page. `onAskAgain(question)` is what the button of a failed turn does. */
export class TurnView {
  #turn;
  #onAskAgain;
  #timer = 0;
  #question = element('h2', { className: 'question' });
  #progress = element('div', {});
  #answer = element('div', { className: 'answer' });
  #rest = element('div', {});

  constructor(turn, onAskAgain) {
    this.#turn = turn;
    this.#onAskAgain = onAskAgain;
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
    const { phases, state, record, answer } = this.#turn;
    // Once there is a record, the details below tell the same at leisure.
    const isShown = state === 'running' || !record;
    this.#progress.replaceChildren(
      ...(isShown && phases.length > 0 ? [progressList(phases, state === 'running')] : []),
    );
    if (state === 'running' && phases.length === 0 && answer === '') {
      this.#progress.append(
        element('p', { className: 'waiting' }, record ? texts().stillAnswering : texts().answering),
      );
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
    const { error, record, question, state } = this.#turn;
    const parts = [];
    if (error) parts.push(errorBox(error, () => this.#onAskAgain(question)));
    if (record && state !== 'running') {
      if (record.citations.length > 0) parts.push(sourceList(this.#turn));
      const reasoning = record.answer_text_list[0]?.[0]?.reasoning_content;
      if (reasoning) parts.push(reasoningDetails(reasoning));
      parts.push(whyDetails(record));
    }
    return parts;
  }
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
  const t = texts();
  const again = element('button', { type: 'button', className: 'quiet' }, t.askAgain);
  again.addEventListener('click', onAskAgain);
  return element(
    'div',
    { className: 'failure' },
    element('p', {}, element('strong', {}, t.errorTitle)),
    element('p', {}, error.message),
    again,
  );
}
