import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { ConfigError } from '../../../settings/config.ts';
import { apiUrl, isLoopback } from '../../../settings/values.ts';
import { shellWord } from '../../../base/text.ts';
import { overNode } from '../../shop/socket.ts';
import { NoOwnerAnswersError, Route, type Miss } from '../../shop/transport.ts';
import { apiSettings } from '../settings.ts';
import { NoOwnerError, type Transport } from './transport.ts';

/**
 * The way to the owner of an account by the API of one of these URLs. A process reads the URL of the owner from the database:
 * the token goes to no other URL than these, and after one of https to none of http. Throws `CommandError` and `ConfigError`.
 */
export function apiTransport(config: object, urls: readonly string[]): Transport {
  const { token, insecure } = apiSettings.of(config).api;
  const open = urls.find((url) => url.startsWith('http:') && !isLoopback(new URL(url).hostname));
  if (open !== undefined && !insecure) {
    const advice = 'use https, or set api.insecure if a network of your own keeps it secret';
    throw new CommandError(EXIT.usage, `over ${open} others could read the token: ${advice}`);
  }
  if (token === undefined) throw new ConfigError('--url needs a token: name its file in ORDER_SYNC_API_TOKEN_FILE');
  const route = new Route(overNode(), urls);
  return async ({ headers, ...request }) => {
    try {
      return await route.send({ ...request, headers: { ...headers, authorization: `Bearer ${token}` } });
    } catch (error) {
      throw error instanceof NoOwnerAnswersError ? noOwner(error.misses, urls) : error;
    }
  };
}

function noOwner(misses: ReadonlyMap<string, Miss>, urls: readonly string[]): Error {
  const owners = [...misses.values()].map((miss) => ('owner' in miss ? apiUrl.safeParse(miss.owner).data : undefined));
  const stranger = owners.findLast((owner) => owner !== undefined && !misses.has(owner));
  if (stranger !== undefined) {
    const advice = urls.includes(stranger)
      ? 'a token does not go from https to http: name its https address'
      : `if that host is yours, add --url ${shellWord(stranger)}`;
    return new CommandError(EXIT.unavailable, `the process at ${stranger} drives the account; ${advice}`);
  }
  const why = [...misses].map(([url, miss]) => `${url} ${reasonOf(miss)}`).join('; ');
  // Only if none was reached there is a cause: waiting for another owner would not help.
  const isReached = misses.values().some((miss) => 'answer' in miss);
  return new NoOwnerError(why, isReached ? {} : { cause: misses });
}

function reasonOf(miss: Miss): string {
  if ('answer' in miss) return 'does not drive the account';
  const { message = '', code = '' } = miss.cause as Partial<NodeJS.ErrnoException>;
  const advice = /CERT|SIGNATURE/.test(code) ? ' (NODE_EXTRA_CA_CERTS names the file of an authority of your own)' : '';
  // An error of several addresses has no message.
  return `cannot be reached: ${message || code}${advice}`;
}
