import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { LOCAL_USER_ID } from '../accounts/local-user.ts';
import { registerApplicationRoutes } from '../applications/routes.ts';
import type { AskPorts } from '../chat/ask-question.ts';
import { registerChatRoutes } from '../chat/routes.ts';
import { registerFunctionFileRoutes } from '../functions/file-routes.ts';
import type { Caller } from '../functions/function-access.ts';
import { type FunctionPorts, registerFunctionRoutes } from '../functions/routes.ts';
import { type KnowledgeRoutePorts, registerKnowledgeRoutes } from '../knowledge/routes.ts';
import { packageRoot } from '../observability/package-root.ts';
import { refuseBrokenRequest } from './broken-request.ts';
import { sendData } from './envelope.ts';
import { answerError } from './error-answer.ts';
import { type Language, languageOf } from './messages.ts';
import { Refusal } from './refusal.ts';
import { checkHostAndOrigin, createTokenCheck, MIN_TOKEN_CHARACTERS, SECURITY_HEADERS } from './security.ts';
import { serveAskPage } from './static-files.ts';

/** What the HTTP side needs; `ask` holds the stores of applications and chats too. */
export interface AppDeps {
  ask: AskPorts;
  functions: FunctionPorts;
  /** Stands for every user until there are accounts; at least 16 characters. */
  token: string;
  /** Whether chat streams carry named events unless a request says otherwise (`kb.chat.agent_status`, R74). */
  agentStatus: boolean;
  version: string;
  /** Which parts work without a remote model; the page says so. */
  offline: { chat: boolean; embedding: boolean };
  log: Logger;
  /** Indexes a folder of this machine; without it the path does not exist. */
  indexFolder?: KnowledgeRoutePorts['indexFolder'];
  /** Who a request comes from; without it everybody is the local user, until there are accounts. */
  callerOf?: (request: FastifyRequest) => Caller;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no token. */
    isPublic?: boolean;
    /** Its failures are HTTP 500, as the contract has it for chat. */
    isChat?: boolean;
  }
  interface FastifyRequest {
    /** Of the messages in the answer. */
    language: Language;
    /** Who asks; conversations belong to a client (R72). */
    clientId: string;
  }
}

/** A stop waits so long for answers on their way out. Browsers also hold connections that never carry a request. In ms. */
const CLOSE_GRACE_MS = 5000;

/** A question of 4000 tokens has at most some tens of kilobytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Builds the HTTP application: API, chat streams and the ask page. It does not listen; the caller listens on a
 * loopback address, closes it, and fires `ask.shutdown` before, so that open streams end. Rejects where the
 * token is too short or a file of the page is missing.
 */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  if (deps.token.length < MIN_TOKEN_CHARACTERS) {
    throw new Error(`The access token needs at least ${MIN_TOKEN_CHARACTERS} characters.`);
  }
  const app = buildServer(deps.log);
  addHooks(app, createTokenCheck(deps.token));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new Refusal('route_not_found');
  });
  registerSystemRoutes(app, deps);
  registerApplicationRoutes(app, deps.ask.applications);
  registerChatRoutes(app, { ports: deps.ask, agentStatus: deps.agentStatus });
  const functions = { ports: deps.functions, callerOf: deps.callerOf ?? localCaller };
  registerFunctionRoutes(app, functions);
  await registerFunctionFileRoutes(app, functions);
  if (deps.indexFolder) registerKnowledgeRoutes(app, { indexFolder: deps.indexFolder, shutdown: deps.ask.shutdown });
  await serveAskPage(app, packageRoot());
  return app;
}

function localCaller(request: FastifyRequest): Caller {
  return { id: request.clientId, role: 'ADMIN' };
}

function buildServer(log: Logger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // A HEAD request would run the handler of GET, and opening a chat is one.
    exposeHeadRoutes: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: 120_000,
    clientErrorHandler: refuseBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      // Raised before any hook, for an address that can't be decoded.
      request.language = languageOf(request.headers['accept-language']);
      void answerError(error, request as FastifyRequest, reply.headers(SECURITY_HEADERS) as FastifyReply);
    },
  });
  app.removeContentTypeParser('text/plain');
  acceptEmptyBodies(app);
  return app;
}

/** Many clients name a content type with every request, also with a DELETE, which has nothing to send. */
function acceptEmptyBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) =>
    body === '' ? done(null, undefined) : parseJson(request, body, done),
  );
}

function addHooks(app: FastifyInstance, checkToken: (request: FastifyRequest) => void): void {
  app.decorateRequest('language', 'zh-CN');
  app.decorateRequest('clientId', '');
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    request.language = languageOf(request.headers['accept-language']);
    checkHostAndOrigin(request);
    if (request.is404 || request.routeOptions.config.isPublic === true) return;
    checkToken(request);
    request.clientId = LOCAL_USER_ID;
  });
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS).unref();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // What people asked and were answered stays out of caches on the way and on disk.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    request.log.debug(
      { method: request.method, route: request.routeOptions.url, status: reply.statusCode },
      'answered',
    );
    return payload;
  });
}

function registerSystemRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { version, offline } = deps;
  app.get('/healthz', { config: { isPublic: true } }, async (_request, reply) =>
    reply.header('content-type', 'application/json').send(Buffer.from('{"ok":true}')),
  );
  app.get('/api/profile', { config: { isPublic: true } }, async (request, reply) =>
    sendData(request, reply, { version, IS_XPACK: false, XPACK_LICENSE_IS_VALID: false, offline }),
  );
}
