import { basename } from 'node:path';
import type { Logger } from 'pino';
import { ApplicationStore } from './applications/application-store.ts';
import type { AskPorts } from './chat/ask-question.ts';
import { ChatStore } from './chat/chat-store.ts';
import { ContextStore } from './chat/context/context-store.ts';
import { createSessionLock } from './chat/create-session-lock.ts';
import { ServerStoppingError } from './chat/describe-failure.ts';
import { EventStore } from './chat/event-store.ts';
import { keepHouse } from './chat/keep-house.ts';
import type { Config } from './config.ts';
import { type HeldDataFolder, holdDataFolder } from './data-folder.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import { FunctionStore } from './functions/function-store.ts';
import { PythonFunctionService } from './functions/python-function-service.ts';
import type { PythonSandbox } from './functions/python-sandbox.ts';
import type { FunctionPorts } from './functions/routes.ts';
import { createPythonSandbox } from './functions/sandbox/create-python-sandbox.ts';
import type { FolderProgress, FolderReport } from './knowledge/index-folder.ts';
import { contentWords } from './knowledge/indexing/tokens.ts';
import { Knowledge } from './knowledge/knowledge.ts';
import { createModels, type Models } from './models/create-models.ts';

/** Everything a command or the HTTP app works with. `close` frees it all, once, and waits for running answers. */
export interface Services {
  config: Config;
  database: Database;
  models: Models;
  applications: ApplicationStore;
  knowledge: Knowledge;
  ask: AskPorts;
  indexFolder: IndexFolder;
  functions: FunctionPorts;
  /** Idle until `start` or its first use. */
  python: PythonSandbox;
  /** Null with a remote database: then nobody needs the folder alone. */
  dataFolder: HeldDataFolder | null;
  /** Ends running answers and indexing soon; what they had is stored. `shutdown` tells of it. */
  stop(): void;
  shutdown: AbortSignal;
  close(): Promise<void>;
}

/** A folder's report and the application that asks it. */
export interface IndexedFolder {
  report: FolderReport;
  applicationId: string;
}

/** Mirrors a folder into a dataset and makes it askable, alone and together with everything else. */
export type IndexFolder = (
  folder: string,
  run: { onProgress(progress: FolderProgress): void; signal: AbortSignal },
) => Promise<IndexedFolder>;

export interface ComposeOptions {
  config: Config;
  log: Logger;
  /** The embedded database is lost: its thread ended, or another process took its folder. Stop at once. */
  onLost(error: Error): void;
  /** Opens the database of the configuration in another way: a test counts what is asked of it. */
  openDatabase?: typeof openDatabase;
}

/**
 * Builds the program from its configuration: data folder, database with its migrations, models, features.
 * Throws what opening them throws; then nothing stays open.
 */
export async function compose({ config, log, onLost, ...other }: ComposeOptions): Promise<Services> {
  const dataFolder = config.databaseUrl === null ? await holdDataFolder(config.dataDir, onLost) : null;
  let database: Database | undefined;
  try {
    database = await (other.openDatabase ?? openDatabase)(databaseLocation(config), { onLost });
    await migrate(database);
    return await assemble({ config, log, database, dataFolder });
  } catch (error) {
    await database?.close();
    await dataFolder?.release();
    throw error;
  }
}

/** Where the configuration keeps its database. */
export function databaseLocation(config: Config): { url: string } | { dataDir: string } {
  return config.databaseUrl === null ? { dataDir: `${config.dataDir}/pglite` } : { url: config.databaseUrl };
}

interface Parts {
  config: Config;
  log: Logger;
  database: Database;
  dataFolder: HeldDataFolder | null;
}

async function assemble({ config, log, database, dataFolder }: Parts): Promise<Services> {
  const models = createModels(config, { database, contentWords });
  const applications = new ApplicationStore(database);
  const knowledge = new Knowledge({ database, embedder: models.embedder, log });
  const shutdown = new AbortController();
  const ask = createAskPorts({ config, database, models, knowledge, log, shutdown: shutdown.signal });
  // The folder's lock makes this the only process of the database, so nothing can be running.
  await ask.store.interruptRunningRecords({ chatId: null, heldToo: dataFolder !== null });
  const everything = await applications.ensureBuiltIn({ kind: 'all', name: '全部资料 / All documents' });
  knowledge.embedInBackground(shutdown.signal);
  const house = keepHouse(ask, { alone: dataFolder !== null });
  const python = createPythonSandbox(config.python, { log });
  return {
    config,
    database,
    models,
    applications,
    knowledge,
    ask,
    indexFolder: folderIndexer({ knowledge, applications, everything, shutdown: shutdown.signal }),
    functions: createFunctionPorts({ database, python, log, shutdown: shutdown.signal }),
    python,
    dataFolder,
    stop: () => shutdown.abort(new ServerStoppingError()),
    shutdown: shutdown.signal,
    close: async () => {
      shutdown.abort(new ServerStoppingError());
      await Promise.allSettled([...ask.running, house, python.close()]);
      await knowledge.close();
      await database.close();
      await dataFolder?.release();
    },
  };
}

/** What asking needs, from a configuration and an open database. */
export function createAskPorts(parts: {
  config: Pick<Config, 'agent' | 'context' | 'chat'>;
  database: Database;
  models: Pick<Models, 'answer' | 'auxiliary'>;
  knowledge: Pick<Knowledge, 'search'>;
  log: Logger;
  shutdown: AbortSignal;
}): AskPorts {
  const { config, database, models, knowledge, log, shutdown } = parts;
  return {
    store: new ChatStore(database),
    applications: new ApplicationStore(database),
    contexts: new ContextStore(database),
    events: new EventStore(database),
    lock: createSessionLock(database, { log }),
    search: ({ query, application, excludedParagraphIds, signal }) =>
      knowledge.search({
        query,
        datasetIds: application.datasetIds,
        topN: application.datasetSetting.top_n,
        mode: application.datasetSetting.search_mode,
        similarity: application.datasetSetting.similarity,
        excludeParagraphIds: excludedParagraphIds,
        signal,
      }),
    models,
    limits: {
      maxRounds: config.agent.maxRounds,
      evidenceTokens: config.agent.evidenceTokens,
      recentTokens: config.context.recentTokens,
      contextTokens: config.chat.contextTokens,
      maxTokens: config.chat.maxTokens,
    },
    shutdown,
    running: new Set(),
    log,
  };
}

/** What the function library needs. The sandbox starts with the first function that runs, so the server needs no engine. */
function createFunctionPorts(parts: {
  database: Database;
  python: PythonSandbox;
  log: Logger;
  shutdown: AbortSignal;
}): FunctionPorts {
  const { database, python, log, shutdown } = parts;
  const service = new PythonFunctionService({ sandbox: python, log });
  return { store: new FunctionStore(database), service, shutdown };
}

function folderIndexer(parts: {
  knowledge: Knowledge;
  applications: ApplicationStore;
  everything: string;
  shutdown: AbortSignal;
}): IndexFolder {
  const { knowledge, applications, everything, shutdown } = parts;
  return async (folder, run) => {
    const report = await knowledge.indexFolder(folder, run);
    const name = basename(report.folder) || report.folder;
    const applicationId = await applications.ensureBuiltIn({ kind: 'folder', name, folder: report.folder });
    await applications.bindDataset(applicationId, report.datasetId);
    await applications.bindDataset(everything, report.datasetId);
    knowledge.embedInBackground(shutdown);
    return { report, applicationId };
  };
}
