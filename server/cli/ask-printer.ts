import type { AgentStatus, RecordDetail } from '../../contract/chat.ts';
import type { ChatEvent } from '../chat/chat-events.ts';
import { jsonAnswer } from './ask.ts';
import { printable, printableJson } from './printable.ts';
import { formatTable } from './table.ts';
import { type AnswerLanguage, askTexts, stopReasonText } from './texts.ts';

/** Prints what happens while a question is answered, then what the answer rests on. */
export class AskPrinter {
  readonly #language: AnswerLanguage;
  readonly #json: boolean;
  #answering = false;
  #isNamed = false;

  constructor({ language, json }: { language: AnswerLanguage; json: boolean }) {
    this.#language = language;
    this.#json = json;
  }

  offline(): void {
    this.#say(`${this.#texts.offline}\n`);
  }

  /** Which conversation the question belongs to; from then on the record's context is told too. */
  chat({ name, isNew }: { name: string; isNew: boolean }): void {
    this.#isNamed = true;
    this.#say(`${isNew ? this.#texts.newChat(name) : this.#texts.sameChat(name)}\n`);
  }

  event(event: ChatEvent): void {
    switch (event.kind) {
      case 'status':
        this.#say(`${this.#statusLine(event.status)}\n`);
        return;
      case 'answer-delta':
        if (!this.#answering) this.#say('\n');
        this.#answering = true;
        this.#say(event.content);
        return;
      case 'answer-end':
        this.#say('\n');
        return;
      case 'answer-failed':
        process.stderr.write(
          printable(`${this.#answering ? '\n' : ''}${this.#texts.failed}: ${event.error.message}\n`),
        );
    }
  }

  record(record: RecordDetail): void {
    if (this.#json) process.stdout.write(`${printableJson(jsonAnswer(record))}\n`);
    else this.#say(this.#details(record));
  }

  get #texts() {
    return askTexts[this.#language];
  }

  /** With `--json` nothing but the object is printed. */
  #say(text: string): void {
    if (!this.#json) process.stdout.write(printable(text));
  }

  #statusLine(status: AgentStatus): string {
    const texts = this.#texts;
    switch (status.phase) {
      case 'context':
        return texts.context;
      case 'compacting':
        return texts.compacting;
      case 'retrieving':
        return texts.retrieving(status.round, status.queries.join(' | '));
      case 'assessed':
        return status.sufficient ? texts.enough : texts.missing(status.missing.replaceAll('\n', ' | '));
      case 'generating':
        return texts.generating(status.rounds);
    }
  }

  #details(record: RecordDetail): string {
    const texts = this.#texts;
    const citations = record.citations.flatMap((citation) => [
      `  [${citation.n}] ${citation.document} · ${citation.title.trim()}${citation.verified ? '' : ` (${texts.unverified}: ${citation.reason})`}`,
      `      “${citation.quote.replace(/\s+/g, ' ')}”`,
    ]);
    const rows = record.agent_trace.map((row) => [
      String(row.round),
      row.queries.join(' | '),
      String(row.new_paragraph_ids.length),
      String(row.total_evidence),
      row.sufficient ? texts.yes : texts.no,
      row.missing.replaceAll('\n', ' | '),
    ]);
    const reason = record.agent_stop_reason;
    const context = this.#isNamed && record.context_info ? [texts.memory(record.context_info)] : [];
    return [
      '',
      `${texts.citations}:`,
      ...(citations.length > 0 ? citations : [`  ${texts.none}`]),
      '',
      `${texts.trace}:`,
      formatTable([texts.columns, ...rows]).replace(/^/gm, '  '),
      '',
      `${texts.stop}: ${reason === null ? texts.none : `${reason} (${stopReasonText(reason, this.#language)})`}`,
      ...context,
      '',
    ].join('\n');
  }
}
