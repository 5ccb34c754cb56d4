import { element } from './element.js';
import { renderMarkdown } from './markdown.js';
import { currentLanguage, texts } from './texts.js';

/** The element of the page with this id. */
export function part(id) {
  return document.getElementById(id);
}

/** Puts the texts of the language now into everything that is always on the page. */
export function drawTexts() {
  const t = texts();
  document.documentElement.lang = currentLanguage();
  for (const node of document.querySelectorAll('[data-text]')) node.textContent = t[node.dataset.text];
  for (const node of document.querySelectorAll('[data-placeholder]')) node.placeholder = t[node.dataset.placeholder];
  part('language').textContent = t.otherLanguage;
}

/** Says when no remote model takes part, and what that means. */
export function drawBadge(offline) {
  const t = texts();
  const badge = part('offline');
  badge.hidden = !(offline?.chat || offline?.embedding);
  badge.textContent = offline?.chat ? t.offline : t.keywordsOnly;
  badge.title = offline?.chat ? t.offlineHelp : t.keywordsOnlyHelp;
}

/** The applications to choose from, and the button for a new conversation; neither without an application. */
export function drawApplications({ applications, application }) {
  const select = part('application');
  select.replaceChildren(...applications.map(({ id, name }) => element('option', { value: id }, name)));
  select.value = application?.id ?? '';
  select.disabled = applications.length < 2;
  for (const id of ['application', 'new-conversation']) part(id).hidden = application === null;
}

/** What stands in place of a conversation that has not begun. `onPick(question)`: a suggested question was chosen. */
export function drawWelcome({ application, offline, onPick }) {
  const t = texts();
  const { introduction, questions } = readPrologue(application?.prologue ?? '');
  const welcome = part('welcome');
  welcome.replaceChildren(element('h2', {}, t.welcomeTitle));
  if (introduction) {
    const text = element('div', { className: 'prologue' });
    text.append(renderMarkdown(introduction));
    welcome.append(text);
  } else welcome.append(element('p', {}, application ? t.welcomeText : t.noApplications));
  for (const question of questions) {
    const button = element('button', { type: 'button', className: 'suggestion' }, question);
    button.addEventListener('click', () => onPick(question));
    welcome.append(button);
  }
  if (offline?.chat) welcome.append(element('p', { className: 'note' }, t.offlineHelp));
}

/** MaxKB's rule: a line "- text" of the prologue is a question to click. */
function readPrologue(prologue) {
  const lines = prologue.split('\n');
  const questions = lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2).trim());
  return {
    introduction: lines
      .filter((line) => !line.startsWith('- '))
      .join('\n')
      .trim(),
    questions,
  };
}

/** While the answer of `turn` is awaited, stopping it takes the place of asking. Null: none is. */
export function drawComposer(turn) {
  const t = texts();
  const buttons = [part('send'), part('stop')];
  const hadFocus = buttons.some((button) => button.matches(':focus-visible'));
  part('send').hidden = turn !== null;
  part('stop').hidden = turn === null;
  part('stop').textContent = turn?.isStopping ? t.stopping : t.stop;
  part('stop').ariaDisabled = String(turn?.isStopping ?? false);
  part('hint').textContent = turn ? t.stopHint : t.sendHint;
  // A button that is gone would take the keyboard's place with it.
  if (hadFocus) buttons.find((button) => !button.hidden).focus({ preventScroll: true });
}

/** A line above the question field; an empty text takes it away. */
export function showNotice(text) {
  part('notice').replaceChildren(...(text ? [element('p', { className: 'failure' }, text)] : []));
}

/** Said by a screen reader, seen by nobody. */
export function announce(text) {
  part('announcer').textContent = text;
}

/** Scrolls until the element stands at the top, at once for whoever wants no motion. */
export function bringToTop(node) {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  node.scrollIntoView({ block: 'start', behavior: isStill ? 'instant' : 'smooth' });
}
