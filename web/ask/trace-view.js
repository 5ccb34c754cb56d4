import { RequestError } from './client.js';
import { element } from './element.js';
import { renderMarkdown } from './markdown.js';
import { texts } from './texts.js';

/** The list of what happened so far; while `running` the last entry is under way. */
export function progressList(phases, running) {
  const entries = mergePhases(phases);
  const list = element('ol', { className: 'progress', ariaLabel: texts().phases });
  entries.forEach((entry, index) => {
    const current = running && index === entries.length - 1 && !entry.done;
    list.append(element('li', { className: current ? 'current' : 'finished' }, ...entry.parts));
  });
  return list;
}

/** What the last phase is, in one line for a screen reader. */
export function phaseLine(phase) {
  const t = texts();
  switch (phase.phase) {
    case 'context':
      return t.phaseContext;
    case 'compacting':
      return t.phaseCompacting;
    case 'retrieving':
      return `${t.phaseRetrieving(phase.round)}: ${phase.queries.join('; ')}`;
    case 'assessed':
      return t.roundLabel(phase.round, phase.sufficient ? t.phaseSufficient : `${t.phaseMissing}${phase.missing}`);
    case 'generating':
      return `${t.phaseGenerating}: ${t.stopReasons[phase.stop_reason] ?? phase.stop_reason}`;
    default:
      return '';
  }
}

/** A round is one entry: what was searched for, and below it the verdict once there is one. */
function mergePhases(phases) {
  const t = texts();
  const entries = [];
  for (const phase of phases) {
    if (phase.phase === 'context') entries.push({ parts: [t.phaseContext] });
    else if (phase.phase === 'compacting') entries.push({ parts: [t.phaseCompacting] });
    else if (phase.phase === 'retrieving') {
      entries.push({ parts: [t.phaseRetrieving(phase.round), queryList(phase.queries)] });
    } else if (phase.phase === 'assessed') {
      entries.at(-1)?.parts.push(verdict(phase));
    } else if (phase.phase === 'generating') {
      const reason = t.stoppedSearching(t.stopReasons[phase.stop_reason] ?? phase.stop_reason);
      entries.push({ parts: [t.phaseGenerating, element('span', { className: 'detail' }, reason)] });
    }
  }
  return entries;
}

function queryList(queries) {
  return element('span', { className: 'queries' }, ...queries.map((query) => element('q', {}, query)));
}

function verdict({ sufficient, missing }) {
  const t = texts();
  if (sufficient) return element('span', { className: 'verdict good' }, t.phaseSufficient);
  return element('span', { className: 'verdict gap' }, t.phaseMissing, missing.split('\n').join(' / '));
}

/**
 * Everything the record knows of how its answer came about: rounds, stop reason, context, cost; and what the
 * conversation remembers, which `readMemory()` brings.
 */
export function whyDetails(record, readMemory) {
  const t = texts();
  const rounds = record.agent_trace;
  const reason = record.agent_stop_reason;
  const summary = [
    rounds.length > 0 ? t.rounds(rounds.length) : '',
    reason === null ? '' : (t.stopReasons[reason] ?? reason),
  ];
  const short = summary
    .filter(Boolean)
    .map((text) => ` · ${text}`)
    .join('');
  return element(
    'details',
    { className: 'why' },
    element('summary', {}, t.why, element('span', { className: 'detail' }, short)),
    rounds.length > 0 ? traceTable(rounds) : '',
    facts(record),
    record.context_info?.compacted_rounds > 0 ? memoryDetails(readMemory) : '',
  );
}

function facts(record) {
  const t = texts();
  const list = element('dl', { className: 'facts' });
  const add = (name, value) => list.append(element('dt', {}, name), element('dd', {}, value));
  if (record.padding_problem_text) add(t.standalone, record.padding_problem_text);
  const reason = record.agent_stop_reason;
  if (reason !== null) add(t.stopped, t.stopReasons[reason] ?? reason);
  if (record.context_info) add(t.context, contextLine(record.context_info));
  add(t.cost, t.costText(record.run_time.toFixed(1), record.message_tokens + record.answer_tokens));
  return list;
}

function contextLine(info) {
  const t = texts();
  if (!info.enabled) return t.contextOff;
  const parts = [t.contextRounds(info.recent_rounds), t.contextTokens(info.estimated_tokens, info.token_budget)];
  if (info.compacted_rounds > 0) parts.push(t.contextCompacted(info.compacted_rounds));
  if (info.compacted) parts.push(t.contextCompactedNow);
  if (info.compaction_reason === 'failed') parts.push(t.contextFailed);
  else if (info.threshold_exceeded && !info.compacted) parts.push(t.contextOver);
  return parts.join(' · ');
}

/** The summary of the older rounds. Read again each time it is opened, because it grows with the conversation. */
function memoryDetails(readMemory) {
  const content = element('div', { className: 'remembered' });
  const details = element('details', { className: 'memory' }, element('summary', {}, texts().memory), content);
  details.addEventListener('toggle', () => {
    if (details.open) void showMemory(content, readMemory);
  });
  return details;
}

async function showMemory(content, readMemory) {
  const t = texts();
  const note = (text) => element('p', { className: 'note' }, text);
  if (!content.hasChildNodes()) content.append(note(t.memoryLoading));
  content.ariaBusy = 'true';
  try {
    const { summary, compacted_rounds: rounds } = await readMemory();
    const text = element('div', { className: 'prose' });
    text.append(renderMarkdown(summary));
    content.replaceChildren(note(t.memoryNote(rounds)), text);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    content.replaceChildren(note(error.message));
  } finally {
    content.ariaBusy = 'false';
  }
}

function traceTable(rounds) {
  const t = texts();
  const heads = [t.traceRound, t.traceQueries, t.traceNew, t.traceTotal, t.traceVerdict, t.traceNext];
  const rows = rounds.map((row) => {
    const cells = [
      String(row.round),
      queryList(row.queries),
      String(row.new_paragraph_ids.length),
      String(row.total_evidence),
      verdict(row),
      row.next_queries.length > 0 ? queryList(row.next_queries) : '–',
    ];
    return element('tr', {}, ...cells.map((cell, index) => element('td', { dataset: { label: heads[index] } }, cell)));
  });
  return element(
    'table',
    { className: 'trace' },
    element('caption', {}, t.traceCaption),
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows),
  );
}
