import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChatError } from '../chat/chat-error.ts';
import { FunctionError } from '../functions/function-error.ts';
import { sendEnvelope } from './envelope.ts';
import { messageFor } from './messages.ts';
import { REFUSALS, Refusal, type RefusalCode } from './refusal.ts';

/** What an error handler of the framework gets: it may be anything that was thrown. */
type Thrown = Error & { code?: string; statusCode?: number };

/**
 * Answers an error in the envelope: words for people, never a stack (R125). What nobody foresaw is logged and
 * answered with the request's id. On a chat route it and an unknown chat are HTTP 500, as the contract has it.
 */
export function answerError(error: Thrown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  const { status, code } = REFUSALS[refusal.code];
  const isChatFailure = request.routeOptions.config.isChat === true && CHAT_FAILURES.has(refusal.code);
  const message = messageFor(refusal.code, request.language, refusal.values);
  return sendEnvelope(reply, isChatFailure ? 500 : status, { code: isChatFailure ? 500 : code, message, data: null });
}

/** "Chat error before streaming starts": the official front end shows their message in the answer. */
const CHAT_FAILURES: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'internal_error',
  'chat_not_found',
  'application_not_found',
]);

function refusalOf(
  error: Thrown,
  request: FastifyRequest,
): { code: RefusalCode; values: readonly (string | number)[] } {
  if (error instanceof Refusal || error instanceof ChatError || error instanceof FunctionError) {
    return { code: error.code, values: error.values };
  }
  const code = frameworkRefusal(error);
  if (code !== null) return { code, values: [] };
  request.log.error({ err: error, requestId: request.id }, 'a request failed');
  return { code: 'internal_error', values: [request.id] };
}

/** The framework's own complaints about a request. Null: not one of those. */
function frameworkRefusal(error: Thrown): RefusalCode | null {
  switch (error.statusCode) {
    case 413:
      return 'body_too_large';
    case 415:
      return 'unsupported_media_type';
    case 400:
      return error instanceof SyntaxError || error.code?.startsWith('FST_ERR_CTP')
        ? 'malformed_json'
        : 'malformed_request';
    case 404:
      return 'route_not_found';
    case 414:
    case 431:
      return 'malformed_request';
    default:
      return null;
  }
}
