import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../../settings/values.ts';
import { isEqual } from '../../http/secret.ts';
import type { OpsSettings } from '../settings.ts';

/** Pages for monitoring. If a token is set, requests for these pages need only the token, and may use any host name. */
const OF_MACHINES = ['/readyz', '/metrics'];
const CHANGES_NOTHING = ['GET', 'HEAD'];

/** A page loads and runs only files of this server. Images may also be `data:` URLs. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  // With `no-referrer` a browser would send `Origin: null` with our own forms, and `guard` would refuse them.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Refuses changes that do not come from a page of this server. All pages but `/livez` require the token, if one is set.
 * Against DNS rebinding, these pages accept no foreign host name. With a token, `OF_MACHINES` accept any host name.
 */
export function guard(server: FastifyInstance, { token, listen, hosts }: OpsSettings): void {
  const isOwn = (host: string) =>
    host === listen?.host || hosts.includes(host) || isIP(host.replace(/^\[|\]$/g, '')) > 0;
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    if (isForeign(request)) return refuse(reply, 403, 'a change must come from a page of this server (Origin)');
    if (request.url === '/livez') return undefined;
    if (token !== undefined) {
      const isByName = !OF_MACHINES.includes(request.routeOptions.url ?? '');
      const host = hostOf(request);
      if (isByName && !isLoopback(host) && !isOwn(host)) {
        return refuse(reply, 421, 'this host name is not in ops.hosts: add it, or call this server by its IP address');
      }
      if (isEqual(givenToken(request.headers.authorization), token)) return undefined;
      reply.header('www-authenticate', 'Basic realm="order-sync", charset="UTF-8"');
      return refuse(reply, 401, 'send ops.token as Authorization: Bearer, or as the password of Basic');
    }
    if (isLoopback(hostOf(request))) return undefined;
    return refuse(reply, 421, 'call this server by localhost or 127.0.0.1; behind a proxy set ops.token and ops.hosts');
  });
}

function hostOf({ headers }: FastifyRequest): string {
  return (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
}

function isForeign({ method, headers }: FastifyRequest): boolean {
  if (CHANGES_NOTHING.includes(method)) return false;
  const { origin = '', host = '' } = headers;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

function givenToken(authorization = ''): string {
  const [, scheme = '', given = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return given;
  if (scheme.toLowerCase() !== 'basic') return '';
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(given, 'base64').toString()) ?? [];
  return password;
}

function refuse(reply: FastifyReply, httpStatus: number, reason: string): FastifyReply {
  return reply.code(httpStatus).send({ status: 'refused', reason });
}
