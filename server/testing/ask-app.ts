import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import { ApplicationStore } from '../applications/application-store.ts';
import type { SearchHit } from '../chat/agent/evidence.ts';
import type { AskPorts } from '../chat/ask-question.ts';
import { ChatStore } from '../chat/chat-store.ts';
import { ContextStore } from '../chat/context/context-store.ts';
import { createSessionLock } from '../chat/create-session-lock.ts';
import { ServerStoppingError } from '../chat/describe-failure.ts';
import { EventStore } from '../chat/event-store.ts';
import type { Database } from '../database/database.ts';
import { FunctionStore } from '../functions/function-store.ts';
import { PythonFunctionService } from '../functions/python-function-service.ts';
import type { PythonSandbox } from '../functions/python-sandbox.ts';
import type { FunctionPorts } from '../functions/routes.ts';
import { type AppDeps, createApp } from '../http/create-app.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { OfflineChatModel } from '../models/offline/offline-chat-model.ts';
import { countTokens } from '../models/tokens.ts';
import { FakePythonSandbox } from './fake-python-sandbox.ts';

export const TEST_TOKEN = 'test-token-0123456789';

const DATASET_ID = '0190a000-0000-7000-8000-0000000000d1';

/** A small library: two documents, one paragraph for each thing that can be asked. */
const PARAGRAPHS = [
  {
    document: '员工手册（2024 版）.docx',
    title: '第三章 年休假',
    content:
      '员工累计工作已满1年不满10年的，年休假5天；已满10年不满20年的，年休假10天；已满20年的，年休假15天。国家法定休假日、休息日不计入年休假的假期。',
  },
  {
    document: '员工手册（2024 版）.docx',
    title: '第五章 差旅报销',
    content: '差旅费用应在出差结束后30日内提交报销申请，逾期不予受理。住宿标准为一线城市每晚500元，其他城市每晚350元。',
  },
  {
    document: '员工手册（2024 版）.docx',
    title: '第六章 远程办公',
    content: '员工每周可以申请2天远程办公，须经直属主管批准。试用期员工不得申请远程办公。',
  },
  {
    document: '信息安全管理办法.pdf',
    title: '第八条 密码',
    content: '系统密码长度不得少于12位，每90天更换一次。连续输错密码5次的账号锁定30分钟。',
  },
  {
    document: 'Security policy.md',
    title: 'Access badges',
    content: 'A lost access badge must be reported within 24 hours. A replacement badge costs 15 euros.',
  },
] as const;

export interface AskApp {
  app: FastifyInstance;
  ports: AskPorts;
  /** `http://127.0.0.1:port` */
  url: string;
  /** Of an application that may search the small library. */
  applicationId: string;
  /** fetch with the token; `address` starts with `/`. */
  call(address: string, init?: RequestInit): Promise<Response>;
  /** The envelope at an address. */
  getJson(address: string): Promise<{ code: number; message: string; data: unknown }>;
  /** Posts a question; the body is `{message, stream?}`. */
  ask(
    chatId: string,
    body: object,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** Address of a chat's records, without a slash at the end. */
  recordsOf(chatId: string): string;
  openChat(): Promise<string>;
  close(): Promise<void>;
}

/** Starts the app on a free port over a fresh, migrated database, with the offline model unless another is given. */
export async function startAskApp(
  database: Database,
  changes: { model?: ChatModel; deps?: Partial<AppDeps>; limits?: Partial<AskPorts['limits']> } = {},
): Promise<AskApp> {
  const shutdown = new AbortController();
  const ports = askPorts(database, { model: changes.model ?? new OfflineChatModel(contentWords), shutdown });
  Object.assign(ports.limits, changes.limits);
  const applicationId = await seedApplication(database, ports.applications);
  const app = await createApp({
    ask: ports,
    functions: functionPorts(database, { sandbox: new FakePythonSandbox(), log: ports.log, shutdown: shutdown.signal }),
    token: TEST_TOKEN,
    agentStatus: true,
    version: '0.0.0-test',
    offline: { chat: true, embedding: true },
    log: ports.log,
    ...changes.deps,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  // A listening TCP server has an address with a port.
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    app,
    ports,
    url,
    applicationId,
    ...createCalls(url, applicationId),
    close: async () => {
      shutdown.abort(new ServerStoppingError());
      await Promise.allSettled([...ports.running]);
      await app.close();
    },
  };
}

function createCalls(url: string, applicationId: string) {
  const call: AskApp['call'] = (address, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', headers.get('authorization') ?? TEST_TOKEN);
    return fetch(`${url}${address}`, { ...init, headers });
  };
  // Every answer of the API is an envelope.
  const getJson: AskApp['getJson'] = async (address) =>
    (await (await call(address)).json()) as Awaited<ReturnType<AskApp['getJson']>>;
  const ask: AskApp['ask'] = (chatId, body, init = {}) =>
    call(`/api/application/chat_message/${chatId}`, {
      ...init,
      method: 'POST',
      headers: { ...init.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    call,
    getJson,
    ask,
    recordsOf: (chatId: string) => `/api/application/${applicationId}/chat/${chatId}/chat_record`,
    openChat: async () => String((await getJson(`/api/application/${applicationId}/chat/open`)).data),
  };
}

function askPorts(database: Database, options: { model: ChatModel; shutdown: AbortController }): AskPorts {
  const log = pino({ level: process.env['KNOWHY_TEST_LOG'] ?? 'silent' });
  return {
    store: new ChatStore(database),
    applications: new ApplicationStore(database),
    contexts: new ContextStore(database),
    events: new EventStore(database),
    lock: createSessionLock(database, { log }),
    search: async ({ query, excludedParagraphIds }) =>
      searchLibrary(query).filter((hit) => !excludedParagraphIds.includes(hit.paragraphId)),
    models: { answer: options.model, auxiliary: options.model },
    limits: { maxRounds: 3, evidenceTokens: 16_000, recentTokens: 6000, contextTokens: 32_768, maxTokens: 2048 },
    shutdown: options.shutdown.signal,
    running: new Set(),
    log,
  };
}

/** The function library over a database and a sandbox. */
export function functionPorts(
  database: Database,
  { sandbox, log, shutdown }: { sandbox: PythonSandbox; log: Logger; shutdown: AbortSignal },
): FunctionPorts {
  return { store: new FunctionStore(database), service: new PythonFunctionService({ sandbox, log }), shutdown };
}

async function seedApplication(database: Database, applications: ApplicationStore): Promise<string> {
  await database.query('insert into max_kb_dataset (id, user_id, name) values ($1, $2, $3) on conflict do nothing', [
    DATASET_ID,
    LOCAL_USER_ID,
    '公司制度',
  ]);
  const applicationId = await applications.ensureBuiltIn({ kind: 'all', name: '全部资料 / All documents' });
  await applications.bindDataset(applicationId, DATASET_ID);
  return applicationId;
}

/** The best two paragraphs that share at least two content words with the query. */
function searchLibrary(query: string): SearchHit[] {
  const wanted = new Set(contentWords(query));
  const scored = PARAGRAPHS.map((paragraph, index) => {
    const words = new Set(contentWords(`${paragraph.title} ${paragraph.content}`));
    return { paragraph, index, shared: [...wanted].filter((word) => words.has(word)).length };
  });
  return scored
    .filter(({ shared }) => shared >= 2)
    .sort((a, b) => b.shared - a.shared || a.index - b.index)
    .slice(0, 2)
    .map(({ paragraph, index, shared }) => searchHit(paragraph, index, shared / wanted.size));
}

function searchHit(paragraph: (typeof PARAGRAPHS)[number], index: number, score: number): SearchHit {
  const document = PARAGRAPHS.findIndex((other) => other.document === paragraph.document);
  return {
    paragraphId: `0190a000-0000-7000-8000-00000000000${index}`,
    documentId: `0190a000-0000-7000-8000-0000000000c${document}`,
    datasetId: DATASET_ID,
    documentName: paragraph.document,
    datasetName: '公司制度',
    title: paragraph.title,
    content: paragraph.content,
    tokenCount: countTokens(`${paragraph.title}${paragraph.content}`),
    similarity: score,
    comprehensiveScore: score,
  };
}

const STOP_WORDS = new Set(
  '的 了 吗 呢 是 有 在 和 与 多少 多久 几 什么 怎么 the a an is are of to how what in must be'.split(' '),
);

/** Words of a text without the commonest ones, as the offline model wants them. */
export function contentWords(text: string): string[] {
  const segments = new Intl.Segmenter('zh', { granularity: 'word' }).segment(text.normalize('NFKC').toLowerCase());
  return [...segments]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment)
    .filter((word) => !STOP_WORDS.has(word));
}
