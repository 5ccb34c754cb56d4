import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal } from './refusal.ts';

/** On every answer, also on those that bypass the framework's hooks. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** A token of fewer characters could be guessed. */
export const MIN_TOKEN_CHARACTERS = 16;

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Refuses a request that did not ask for this machine by a loopback name: a foreign name that resolves to it
 * (DNS rebinding) would make another site's page our own. A foreign page's Origin is refused too. Throws Refusal.
 */
export function checkHostAndOrigin(request: FastifyRequest): void {
  const host = request.headers.host?.toLowerCase() ?? '';
  // Injected requests of tests have no socket; their port is the default one.
  const port = request.raw.socket.localPort ?? 80;
  if (!LOOPBACK_NAMES.some((name) => host === name || host === `${name}:${port}`)) throw new Refusal('foreign_host');
  const { origin } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) throw new Refusal('foreign_origin');
}

/**
 * Makes the check of the AUTHORIZATION header against `token`; bare, or after `Bearer `. The check throws a
 * Refusal: token_missing or token_wrong. Takes the same time however much of the token is right.
 */
export function createTokenCheck(token: string): (request: FastifyRequest) => void {
  const expected = digest(token);
  return (request) => {
    const given = (request.headers.authorization ?? '').replace(/^Bearer /i, '').trim();
    if (given === '') throw new Refusal('token_missing');
    if (!timingSafeEqual(digest(given), expected)) throw new Refusal('token_wrong');
  };
}

/** Equal lengths, so that the comparison tells nothing of the token's own. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
