import type { RecordDetail } from '../../contract/chat.ts';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import { acceptQuestion } from '../chat/ask-question.ts';
import type { ChatEvent } from '../chat/chat-events.ts';
import { openChat } from '../chat/open-chat.ts';
import { presentRecord } from '../chat/present-record.ts';
import type { Config } from '../config.ts';
import type { FolderProgress } from '../knowledge/index-folder.ts';
import { compose, type IndexedFolder, type Services } from '../main.ts';
import type { AskBackend } from './ask-backend.ts';
import { explain } from './explain.ts';
import { commandLog } from './load.ts';
import { answerLanguageOf } from './texts.ts';

/** Asks in this process, which holds the data folder until it is closed. */
export class LocalBackend implements AskBackend {
  readonly #services: Services;

  private constructor(services: Services) {
    this.#services = services;
  }

  static async open(config: Config): Promise<LocalBackend> {
    const onLost = (error: Error) => {
      process.stderr.write(`The embedded database is lost: ${error.message}\n`);
      process.exit(1);
    };
    return new LocalBackend(await compose({ config, log: commandLog('silent'), onLost }));
  }

  get offline(): boolean {
    return this.#services.models.answer.offline;
  }

  async indexFolder(
    folder: string,
    onProgress: (progress: FolderProgress) => void,
    signal: AbortSignal,
  ): Promise<IndexedFolder> {
    const indexed = await this.#services.indexFolder(folder, { onProgress, signal });
    await this.#embed(signal);
    return indexed;
  }

  async defaultApplicationId(): Promise<string> {
    const [first] = await this.#services.applications.list();
    if (!first) throw new Error('The database holds no application; run: npm run -s knowhy -- doctor');
    return first.id;
  }

  openChat(applicationId: string): Promise<string> {
    return openChat(this.#services.ask, { applicationId, clientId: LOCAL_USER_ID });
  }

  async hasChat({ applicationId, chatId }: { applicationId: string; chatId: string }): Promise<boolean> {
    const chat = await this.#services.ask.store.findChat(chatId);
    return chat?.clientId === LOCAL_USER_ID && chat.applicationId === applicationId;
  }

  async ask(
    { chatId, question }: { chatId: string; question: string },
    onEvent: (event: ChatEvent) => void,
    signal: AbortSignal,
  ): Promise<RecordDetail> {
    const { ask } = this.#services;
    const ports = { ...ask, shutdown: AbortSignal.any([ask.shutdown, signal]) };
    const accepted = await acceptQuestion(ports, { chatId, clientId: LOCAL_USER_ID, message: question, reChat: false });
    await accepted.run(onEvent);
    const record = await ask.store.findRecord(chatId, accepted.recordId);
    if (!record) throw new Error('The answer was not stored.');
    return presentRecord(record, answerLanguageOf(question) === 'zh' ? 'zh-CN' : 'en-US');
  }

  /** A provider that fails costs the vectors, not the answer: search goes on by keywords. */
  async #embed(signal: AbortSignal): Promise<void> {
    try {
      await this.#services.knowledge.embed(signal);
    } catch (error) {
      signal.throwIfAborted();
      process.stderr.write(`Vectors are missing, so keywords are searched: ${explain(error)}\n`);
    }
  }

  close(): Promise<void> {
    return this.#services.close();
  }
}
