import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  checkSyntaxBody,
  createFunctionBody,
  debugFunctionBody,
  executeFunctionBody,
  functionFilterQuery,
  updateFunctionBody,
} from '../../contract/functions.ts';
import { sendData, sendEnvelope } from '../http/envelope.ts';
import { isUuid, pagePath, parseRequest } from '../http/parse-request.ts';
import { joinSignals } from '../observability/joined-signal.ts';
import { checkSyntax } from './check-syntax.ts';
import { createFunction } from './create-function.ts';
import { debugFunction } from './debug-function.ts';
import { deleteFunction } from './delete-function.ts';
import { executeFunction } from './execute-function.ts';
import { type Caller, requireLibraryUser } from './function-access.ts';
import { FunctionError } from './function-error.ts';
import type { FunctionStore } from './function-store.ts';
import { presentFunction, presentListed } from './present-function.ts';
import { presentResult, presentSyntax } from './present-result.ts';
import type { FunctionResult, PythonFunctionService } from './python-function-service.ts';
import { type AskedFilter, listFunctions, pageFunctions, readFunction } from './read-functions.ts';
import { updateFunction } from './update-function.ts';

export interface FunctionPorts {
  store: FunctionStore;
  service: PythonFunctionService;
  /** Ends running functions when the server shuts down. */
  shutdown: AbortSignal;
}

export interface FunctionRouteDeps {
  ports: FunctionPorts;
  callerOf(request: FastifyRequest): Caller;
}

export type OfFunction = FastifyRequest<{ Params: { functionId: string } }>;

export const FUNCTION_ADDRESS = '/api/function_lib';

/** The function library (maxkb-v1-api.md section 9, R111). */
export function registerFunctionRoutes(app: FastifyInstance, deps: FunctionRouteDeps): void {
  registerReading(app, deps);
  registerChanging(app, deps);
  registerRunning(app, deps);
}

function registerReading(app: FastifyInstance, { ports: { store }, callerOf }: FunctionRouteDeps): void {
  app.get(FUNCTION_ADDRESS, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    const functions = await listFunctions(store, caller, readFilter(request));
    return sendData(
      request,
      reply,
      functions.map((listed) => presentListed(listed, caller)),
    );
  });
  // Two whole numbers are a page; anything else in their place is no address of ours.
  app.get(`${FUNCTION_ADDRESS}/:page(^\\d+$)/:size(^\\d+$)`, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    const { page, size } = parseRequest(pagePath, request.params, request.language);
    const found = await pageFunctions(store, caller, { filter: readFilter(request), page, size });
    const records = found.records.map((listed) => presentListed(listed, caller));
    return sendData(request, reply, { total: found.total, records, current: page, size });
  });
  app.get(`${FUNCTION_ADDRESS}/:functionId`, async (request: OfFunction, reply) => {
    const caller = libraryUser(request, callerOf);
    return sendData(request, reply, presentFunction(await readFunction(store, caller, idOf(request)), caller));
  });
}

function registerChanging(app: FastifyInstance, { ports: { store }, callerOf }: FunctionRouteDeps): void {
  app.post(FUNCTION_ADDRESS, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    const body = parseRequest(createFunctionBody, request.body, request.language);
    return sendData(request, reply, presentFunction(await createFunction(store, caller, body), caller));
  });
  app.put(`${FUNCTION_ADDRESS}/:functionId`, async (request: OfFunction, reply) => {
    const caller = libraryUser(request, callerOf);
    const body = parseRequest(updateFunctionBody, request.body, request.language);
    const updated = await updateFunction(store, caller, { functionId: idOf(request), body });
    return sendData(request, reply, presentFunction(updated, caller));
  });
  app.delete(`${FUNCTION_ADDRESS}/:functionId`, async (request: OfFunction, reply) => {
    await deleteFunction(store, libraryUser(request, callerOf), idOf(request));
    return sendData(request, reply, true);
  });
}

function registerRunning(app: FastifyInstance, { ports, callerOf }: FunctionRouteDeps): void {
  app.post(`${FUNCTION_ADDRESS}/debug`, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    const body = parseRequest(debugFunctionBody, request.body, request.language);
    const signal = untilGone(reply, ports.shutdown);
    return sendResult(request, reply, await debugFunction(ports.service, caller, { body, signal }));
  });
  app.post(`${FUNCTION_ADDRESS}/:functionId/execute`, async (request: OfFunction, reply) => {
    const caller = libraryUser(request, callerOf);
    const { params } = parseRequest(executeFunctionBody, request.body ?? {}, request.language);
    const call = { functionId: idOf(request), values: new Map(Object.entries(params ?? {})) };
    const signal = untilGone(reply, ports.shutdown);
    return sendResult(request, reply, await executeFunction(ports, caller, { ...call, signal }));
  });
  app.post(`${FUNCTION_ADDRESS}/pylint`, async (request, reply) => {
    const caller = libraryUser(request, callerOf);
    const { code } = parseRequest(checkSyntaxBody, request.body, request.language);
    const result = await checkSyntax(ports.service, caller, { code, signal: untilGone(reply, ports.shutdown) });
    return sendData(request, reply, presentSyntax(result, code, request.language));
  });
}

/** A visitor is refused before anything of the request is looked at, whatever it is. */
export function libraryUser(request: FastifyRequest, callerOf: FunctionRouteDeps['callerOf']): Caller {
  const caller = callerOf(request);
  requireLibraryUser(caller);
  return caller;
}

/** Of the path. Throws FunctionError where it is no id. */
export function idOf(request: OfFunction): string {
  const { functionId } = request.params;
  if (!isUuid(functionId)) throw new FunctionError('function_not_found');
  return functionId;
}

/** Nothing and an empty text do not filter; what is no id is nobody's. */
function readFilter(request: FastifyRequest): AskedFilter {
  const asked = parseRequest(functionFilterQuery, request.query, request.language);
  const userId = asked.select_user_id || null;
  return {
    name: asked.name || null,
    desc: asked.desc || null,
    functionType: asked.function_type || null,
    userId: userId === null || isUuid(userId) ? userId : NOBODY,
  };
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

function sendResult(request: FastifyRequest, reply: FastifyReply, result: FunctionResult): FastifyReply {
  return sendEnvelope(reply, 200, presentResult(result, request.language));
}

/** Fires when the client leaves or the server stops. The request's own close comes as soon as its body is read. */
function untilGone(reply: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const joined = joinSignals([shutdown, gone.signal]);
  const leave = () => {
    if (!reply.raw.writableFinished) gone.abort();
    joined.dispose();
  };
  if (reply.raw.closed) leave();
  else reply.raw.once('close', leave);
  return joined.signal;
}
