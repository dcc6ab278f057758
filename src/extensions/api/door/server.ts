import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { ConfigError } from '../../../settings/config.ts';
import { readValueFile } from '../../../settings/settings-file.ts';
import { messageOf } from '../../../base/text.ts';
import { listenPatiently } from '../../http/server.ts';
import { controlServer, serveOperations, type Served } from '../server.ts';
import { areDifferent } from '../../../settings/shapes.ts';
import { isEqual } from '../../http/secret.ts';
import { readSecret, type ApiSettings, type TokenSettings } from '../settings.ts';
import { forbidden, limited, UNAUTHORIZED_RESULT } from '../envelope.ts';
import { answer } from '../routes.ts';

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

/** Refuses a request without a token that has the scope, the account and room in its rate. Sets `request.caller`. */
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
  // This hook runs after the validation of the query, because it reads the account of the query.
  server.addHook('preHandler', async ({ caller: { accounts }, query, is404 }, reply) => {
    const { account = 'default' } = query as { readonly account?: string };
    if (is404 || accounts === 'all' || accounts.includes(account)) return undefined;
    return await answer(reply, forbidden(`this token is not for the account ${account}`));
  });
}

/** The least time between two looks at the file of a secret. */
const LOOK_MS = 1_000;

/**
 * Returns a function that finds the token with a secret. The function compares with every token, so that the time does
 * not show which token matched. Throws `ConfigError` if two tokens have the same secret.
 */
function finderOf(settings: readonly TokenSettings[], deps: Served) {
  const tokens = settings.map((one) => tokenOf(one, deps));
  if (!areDifferent(tokens.map((token, at) => token.secret ?? String(at))))
    throw new ConfigError('api.tokens: two tokens have the same secret: make one for each');
  return (secret: string) => tokens.filter((token) => token.secret !== undefined && isEqual(secret, token.secret))[0];
}

/** Returns a token with a bucket that limits its rate. Its secret is read again when the file has changed. */
function tokenOf({ caller, secretFile, rate }: TokenSettings, { clock, log }: Served) {
  let secret: string | undefined;
  /** The state of the file when it was read last. */
  let read = '';
  let [isRefused, lookedAt] = [false, -Infinity];
  let [left, filledAt] = [rate, clock.monotonic()];
  return {
    caller,
    /** While the file cannot be used, the secret is undefined and the token is refused. */
    get secret() {
      if (clock.monotonic() - lookedAt < LOOK_MS) return secret;
      lookedAt = clock.monotonic();
      try {
        const found = statSync(secretFile);
        const state = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
        // A pipe can be read only once.
        const isSame = state === read || (read !== '' && !found.isFile());
        if (!isSame) secret = readSecret(secretFile);
        [read, isRefused] = [state, false];
      } catch (error) {
        const facts = { token: caller.name, cause: messageOf(error) };
        if (!isRefused) log.warn(facts, 'a token is refused until its file can be used');
        [secret, read, isRefused] = [undefined, '', true];
      }
      return secret;
    },
    /** Takes one request from the bucket. Returns 0, or, if the bucket is empty, the wait in ms. */
    take(): number {
      const now = clock.monotonic();
      left = Math.min(rate, left + ((now - filledAt) * rate) / 1_000);
      filledAt = now;
      if (left < 1) return ((1 - left) * 1_000) / rate;
      left -= 1;
      return 0;
    },
  };
}
