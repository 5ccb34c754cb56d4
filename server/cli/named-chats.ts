import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from './usage-error.ts';

const MAX_NAME_CHARACTERS = 200;

const namedChat = z.object({ name: z.string(), applicationId: z.string(), chatId: z.string() });

/** The name of a conversation as the user gave it. Throws UsageError. */
export function parseChatName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new UsageError('--chat needs a name.');
  if (trimmed.length > MAX_NAME_CHARACTERS) {
    throw new UsageError(`the name of a chat has at most ${MAX_NAME_CHARACTERS} characters.`);
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e\u2066-\u2069]/u.test(trimmed)) {
    throw new UsageError('the name of a chat has no line breaks and no invisible characters.');
  }
  return trimmed;
}

/**
 * The names that people on this machine gave to conversations: a small file for each in the data folder, so that two
 * commands at once do not lose each other's. A name belongs to an application: with another folder it is another
 * conversation.
 */
export class NamedChats {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'chats');
  }

  /** The conversation of that name; null where there is none yet. */
  async find(applicationId: string, name: string): Promise<string | null> {
    try {
      const stored = namedChat.safeParse(JSON.parse(await readFile(this.#path(applicationId, name), 'utf8')));
      return stored.success ? stored.data.chatId : null;
    } catch {
      // Missing, or cut off by a crash while it was written: the name is free.
      return null;
    }
  }

  /** Gives the name to a conversation, from whichever had it before. Throws what writing throws. */
  async set(applicationId: string, name: string, chatId: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#path(applicationId, name);
    const unfinished = `${path}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify({ name, applicationId, chatId }), { mode: 0o600 });
    await rename(unfinished, path);
  }

  #path(applicationId: string, name: string): string {
    const key = createHash('sha256').update(`${applicationId}\n${name}`).digest('hex').slice(0, 32);
    return join(this.#folder, `${key}.json`);
  }
}
