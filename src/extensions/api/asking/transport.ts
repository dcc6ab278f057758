import { hash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { ConfigError, type Config } from '../../../settings/config.ts';
import { sqlitePath } from '../../commands/place.ts';
import { apiUrl, isLoopback } from '../../../settings/values.ts';
import { apiSettings } from '../settings.ts';
import { messageOf, shellWord } from '../../../base/text.ts';
import { StoreError } from '../../../store/errors.ts';
import { overNode } from '../../shop/socket.ts';
import { NoOwnerError, Route } from '../../shop/transport.ts';

/** A way to a process that drives accounts. If `send` rejects with `CommandError`, nothing was done. */
export type Transport = Pick<Route, 'send'>;

export function socketTransport(socketPath: string): Transport {
  return new Route(overNode(socketPath), ['http://localhost']);
}

/** Some systems limit the path of a socket to 104 bytes, the last of which is zero. */
const LONGEST_PATH_BYTES = 103;

export function unusableSocket(path: string, error: unknown): StoreError {
  const message = `no control socket can be made at ${path} (${messageOf(error)}); set control.socket to a path of at most ${LONGEST_PATH_BYTES} bytes, in a folder that this user can write to`;
  return new StoreError('disk', message, { cause: error });
}

export function controlSocketOf(config: Pick<Config, 'database'>): string {
  return apiSettings.of(config).control.socket ?? controlSocketPath(sqlitePath(config, 'use sqlite:PATH'));
}

/** Returns a path beside the database. If it is too long for a socket, returns one in this user's temporary folder. */
export function controlSocketPath(databasePath: string): string {
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= LONGEST_PATH_BYTES) return beside;
  const name = hash('sha256', databasePath).slice(0, 24);
  return join(socketFolder(), `${name}.sock`);
}

export function socketFolder(): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `order-sync-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} must be a folder that only this user can open; remove it, or shorten the database's path`,
    );
  }
  return folder;
}

/**
 * Returns a way to the owner of an account through the API at one of `urls`. The token is sent only to `urls`, and no
 * longer by http once it was sent by https. Throws `CommandError` for unsafe http, `ConfigError` without a token.
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

/** Returns an error with the URL of the owner if an answer names an owner that was not asked. */
function strangerIn({ misses }: NoOwnerError, urls: readonly string[]): CommandError | undefined {
  const owners = [...misses.values()].map((miss) => ('owner' in miss ? apiUrl.safeParse(miss.owner).data : undefined));
  const stranger = owners.findLast((owner) => owner !== undefined && !misses.has(owner));
  if (stranger === undefined) return undefined;
  const advice = urls.includes(stranger)
    ? 'after https, the token is not sent by http: give the https URL of that process'
    : `if that host is yours, add --url ${shellWord(stranger)}`;
  return new CommandError(EXIT.unavailable, `the process at ${stranger} drives the account; ${advice}`);
}
