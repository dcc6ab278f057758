import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../config/values.ts';

/** Says that the process lives, and nothing else: it is open to all. */
const OPEN = '/livez';
const CHANGES_NOTHING = ['GET', 'HEAD'];

/** A page loads and runs what this server has for it, and nothing else. */
export const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  // With `no-referrer` a browser names no origin with a form of our own pages.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Lets through who may ask: with the token where there is one; without it who calls this machine by a name of its own, so that
 * no page of another site reaches it by a name that was made to lead here (DNS rebinding; a browser gives such a page no
 * token). What is not a GET must come from a page of this server.
 */
export function guard(server: FastifyInstance, token: string | undefined): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    if (isForeign(request)) return refuse(reply, 403, 'a change must come from a page of this server (Origin)');
    if (request.url === OPEN) return undefined;
    if (token !== undefined) {
      if (isEqual(givenToken(request.headers.authorization), token)) return undefined;
      reply.header('www-authenticate', 'Basic realm="order-sync", charset="UTF-8"');
      return refuse(reply, 401, 'send ops.token as Authorization: Bearer, or as the password of Basic');
    }
    if (isLoopback(hostOf(request))) return undefined;
    return refuse(reply, 421, 'call it by localhost or 127.0.0.1; behind a proxy set ops.token');
  });
}

/** The name in the header `host`, without the port. */
function hostOf({ headers }: FastifyRequest): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
}

function isForeign({ method, headers }: FastifyRequest): boolean {
  if (CHANGES_NOTHING.includes(method)) return false;
  const { origin = '', host = '' } = headers;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

/** The token of `Bearer`, or the password of `Basic`. */
function givenToken(authorization = ''): string {
  const [, scheme = '', given = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return given;
  if (scheme.toLowerCase() !== 'basic') return '';
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(given, 'base64').toString()) ?? [];
  return password;
}

/** Takes the same time whatever is given. */
function isEqual(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

function refuse(reply: FastifyReply, httpStatus: number, reason: string): FastifyReply {
  return reply
    .code(httpStatus)
    .type('application/json')
    .send(JSON.stringify({ status: 'refused', reason }));
}
