import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { ConfigError } from '../../../settings/config.ts';
import { apiUrl, isLoopback } from '../../../settings/values.ts';
import { shellWord } from '../../../base/text.ts';
import { overNode } from '../../shop/socket.ts';
import { NoOwnerError, Route } from '../../shop/transport.ts';
import { apiSettings } from '../settings.ts';
import type { Transport } from './transport.ts';

/**
 * The way to an account's owner by the API of one of `urls`. The database names the owner's URL, but the token is sent
 * to `urls` alone, and never from https to http. Throws `CommandError` and `ConfigError`.
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
  return {
    async send({ headers, ...request }) {
      try {
        return await route.send({ ...request, headers: { ...headers, authorization: `Bearer ${token}` } });
      } catch (error) {
        throw error instanceof NoOwnerError ? (strangerIn(error, urls) ?? error) : error;
      }
    },
  };
}

/** Returns the error if the owner of the account is a process that must not be asked. */
function strangerIn({ misses }: NoOwnerError, urls: readonly string[]): CommandError | undefined {
  const owners = [...misses.values()].map((miss) => ('owner' in miss ? apiUrl.safeParse(miss.owner).data : undefined));
  const stranger = owners.findLast((owner) => owner !== undefined && !misses.has(owner));
  if (stranger === undefined) return undefined;
  const advice = urls.includes(stranger)
    ? 'a token does not go from https to http: name its https address'
    : `if that host is yours, add --url ${shellWord(stranger)}`;
  return new CommandError(EXIT.unavailable, `the process at ${stranger} drives the account; ${advice}`);
}
