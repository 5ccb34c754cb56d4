import type { RecordDetail } from '../../contract/chat.ts';
import type { Config } from '../config.ts';
import { findDataFolderOwner } from '../data-folder.ts';
import type { FolderReport } from '../knowledge/index-folder.ts';
import type { AskBackend } from './ask-backend.ts';
import { LocalBackend } from './ask-local.ts';
import { AskPrinter } from './ask-printer.ts';
import { RemoteBackend } from './ask-remote.ts';
import type { Command } from './commands.ts';
import { folderProgressBar } from './folder-progress.ts';
import { loadSettings, readArguments, userPath } from './load.ts';
import { NamedChats, parseChatName } from './named-chats.ts';
import { printable } from './printable.ts';
import { answerLanguageOf } from './texts.ts';
import { UsageError } from './usage-error.ts';

const help = `Usage: npm run -s knowhy -- ask [--docs FOLDER] [--chat NAME] [--json] "QUESTION"

Asks the documents in FOLDER (indexed first; unchanged files are skipped), or everything indexed so far.
Prints the phases, the answer as it streams, its sources, how it searched and why it stopped.

  --docs FOLDER   the folder to index and ask
  --chat NAME     go on with the conversation of that name about these documents, or begin it; what becomes too long to
                  carry along is compacted into a summary, and that is shown
  --json          print one JSON object: answer, citations, agent_trace, agent_stop_reason, context_info, chat_id
  --help          this text

Exit code: 0 answered, 2 bad usage, 1 failed. While a server holds the data folder, it is asked instead.`;

/** `knowhy ask`. Indexes the folder if one is named, asks, and prints. */
export const askCommand: Command = { help, run };

async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: { docs: { type: 'string' }, chat: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  const question = questionOf(positionals);
  const chatName = values.chat === undefined ? null : parseChatName(values.chat);
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const config = loadSettings();
  const backend = await openBackend(config, controller.signal);
  try {
    const printer = new AskPrinter({ language: answerLanguageOf(question), json: values.json });
    const applicationId = await chooseApplication(backend, values.docs, controller.signal);
    if (backend.offline) printer.offline();
    const chat = await chooseChat(backend, { config, applicationId, chatName }, controller.signal);
    if (chatName !== null) printer.chat({ name: chatName, isNew: chat.isNew });
    const asked = { applicationId, chatId: chat.chatId, question };
    const record = await backend.ask(asked, (event) => printer.event(event), controller.signal);
    printer.record(record);
    return record.state === 'done' ? 0 : 1;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await backend.close();
  }
}

function questionOf(positionals: readonly string[]): string {
  const [question, ...others] = positionals;
  if (question === undefined || question.trim() === '') throw new UsageError('give the question, in quotes.');
  if (others.length > 0) throw new UsageError('give one question; put it in quotes.');
  return question;
}

/** A server that holds the data folder is asked over HTTP; else the program opens the folder itself. */
async function openBackend(config: Config, signal: AbortSignal): Promise<AskBackend> {
  const owner = config.databaseUrl === null ? await findDataFolderOwner(config.dataDir) : null;
  return owner?.address ? RemoteBackend.open(owner.address, signal) : LocalBackend.open(config);
}

/** Without a name every question has a conversation of its own. A name whose conversation is gone begins anew. */
async function chooseChat(
  backend: AskBackend,
  { config, applicationId, chatName }: { config: Config; applicationId: string; chatName: string | null },
  signal: AbortSignal,
): Promise<{ chatId: string; isNew: boolean }> {
  const names = new NamedChats(config.dataDir);
  const known = chatName === null ? null : await names.find(applicationId, chatName);
  if (known !== null && (await backend.hasChat({ applicationId, chatId: known }, signal))) {
    return { chatId: known, isNew: false };
  }
  const chatId = await backend.openChat(applicationId, signal);
  if (chatName !== null) await names.set(applicationId, chatName, chatId);
  return { chatId, isNew: true };
}

async function chooseApplication(backend: AskBackend, docs: string | undefined, signal: AbortSignal): Promise<string> {
  if (docs === undefined) return backend.defaultApplicationId(signal);
  if (docs.trim() === '') throw new UsageError('--docs needs a folder.');
  const bar = folderProgressBar();
  try {
    const { report, applicationId } = await backend.indexFolder(userPath(docs), bar.update, signal);
    bar.stop();
    sayReport(report);
    return applicationId;
  } finally {
    bar.stop();
  }
}

function sayReport(report: FolderReport): void {
  const { files, indexed, unchanged, removed, failures, warnings } = report;
  const say = (line: string) => process.stderr.write(printable(`${line}\n`));
  say(`${files} files: ${indexed} indexed, ${unchanged} unchanged, ${removed} removed, ${failures.length} failed.`);
  for (const { path, message, kept } of failures) {
    say(`  failed: ${path}: ${message}${kept ? ' (its earlier version is still used)' : ''}`);
  }
  for (const { path, message } of warnings) say(`  note: ${path}: ${message}`);
}

/** What `--json` prints. */
export function jsonAnswer(record: RecordDetail) {
  return {
    answer: record.answer_text,
    citations: record.citations,
    agent_trace: record.agent_trace,
    agent_stop_reason: record.agent_stop_reason,
    context_info: record.context_info,
    chat_id: record.chat_id,
    state: record.state,
  };
}
