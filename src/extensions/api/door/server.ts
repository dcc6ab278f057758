import { createSecureContext } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { ConfigError } from '../../../settings/config.ts';
import { readValueFile } from '../../../settings/settings-file.ts';
import { messageOf } from '../../../base/text.ts';
import { listenPatiently } from '../../http/server.ts';
import { controlServer, serveOperations, type Served } from '../server.ts';
import type { ApiSettings } from '../settings.ts';
import { forbidden, limited, UNAUTHORIZED_RESULT } from '../envelope.ts';
import { answer } from '../routes.ts';
import { finderOf } from './tokens.ts';

/** Serves the operations at `api.listen` to programs with a token. Throws `ConfigError` for unusable settings. */
export async function serveApi(served: Served, settings: ApiSettings, stopping: AbortSignal) {
  const { listen } = settings;
  if (listen === undefined) return { url: undefined, close: async () => {} };
  const tokens = finderOf(settings.tokens, served);
  const server = controlServer(served.log, readTls(settings));
  guard(server, tokens, served);
  const close = await serveOperations(server, served, stopping);
  const listening = await listenPatiently(server, { ...served, name: 'api', listen }, stopping);
  return Object.assign(listening, { close: async () => await listening.waiting.then(close) });
}

function readTls({ certFile, keyFile }: ApiSettings) {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const tls = { cert: readValueFile(certFile, 'api.certFile', false), key: readValueFile(keyFile, 'api.keyFile') };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    throw new ConfigError(`api.certFile and api.keyFile cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

const MINUTE_MS = 60_000;
/** The log names at most this many addresses a minute. */
const MOST_ADDRESSES = 1_000;

/** Refuses a request unless its token has the scope and the account of the request. Sets `caller` to the token's. */
function guard(server: FastifyInstance, tokens: ReturnType<typeof finderOf>, { clock, log }: Served): void {
  const named = new Map<string, number>();
  /** True once a minute for each address. The entries of `named` are in order of time. */
  const isNews = (address: string, now = clock.monotonic()) => {
    for (const [one, at] of named) {
      if (now - at < MINUTE_MS) break;
      named.delete(one);
    }
    if (named.has(address) || named.size >= MOST_ADDRESSES) return false;
    named.set(address, now);
    return true;
  };
  server.addHook('onRequest', async (request, reply) => {
    const [, secret = ''] = /^bearer +(\S{1,1000})$/i.exec(request.headers.authorization ?? '') ?? [];
    const token = tokens(secret);
    if (token === undefined) {
      if (isNews(request.ip)) log.warn({ address: request.ip }, 'requests without a valid token are refused');
      return await answer(reply.headers({ 'www-authenticate': 'Bearer', connection: 'close' }), UNAUTHORIZED_RESULT);
    }
    const waitMs = token.take();
    if (waitMs > 0) return await answer(reply, limited(waitMs));
    request.caller = token.caller;
    const { scopes } = request.routeOptions.config;
    if (scopes === undefined || scopes.some((scope) => token.caller.scopes.includes(scope))) return undefined;
    return await answer(reply, forbidden(`this needs a token with the scope ${scopes.join(' or ')}`));
  });
  // The query is checked by now, so its account can be used.
  server.addHook('preHandler', async ({ caller: { accounts }, query, is404 }, reply) => {
    const { account = 'default' } = query as { readonly account?: string };
    if (is404 || accounts === 'all' || accounts.includes(account)) return undefined;
    return await answer(reply, forbidden(`this token is not for the account ${account}`));
  });
}
