import type { RecordDetail } from '../../contract/chat.ts';
import type { ChatEvent } from '../chat/chat-events.ts';
import type { FolderProgress } from '../knowledge/index-folder.ts';
import type { IndexedFolder } from '../main.ts';

/** What `ask` needs, from this process or from a running server; both show the same. */
export interface AskBackend {
  /** True where no model service is configured. */
  readonly offline: boolean;
  indexFolder(
    folder: string,
    onProgress: (progress: FolderProgress) => void,
    signal: AbortSignal,
  ): Promise<IndexedFolder>;
  /** The application that asks everything indexed so far. */
  defaultApplicationId(signal: AbortSignal): Promise<string>;
  openChat(applicationId: string, signal: AbortSignal): Promise<string>;
  /** False for one that was deleted, never used for too long, or is not this user's. */
  hasChat(chat: { applicationId: string; chatId: string }, signal: AbortSignal): Promise<boolean>;
  /** Asks in a conversation and returns the record as it was stored. Throws where the question is refused. */
  ask(
    question: { applicationId: string; chatId: string; question: string },
    onEvent: (event: ChatEvent) => void,
    signal: AbortSignal,
  ): Promise<RecordDetail>;
  close(): Promise<void>;
}
