import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { ConfigError } from '../../../settings/config.ts';
import { apiUrl, isLoopback } from '../../../settings/values.ts';
import { shellWord } from '../../../base/text.ts';
import { readEnvelope } from '../envelope.ts';
import { apiSettings } from '../settings.ts';
import { NoOwnerError, sendTo, type OwnerReply, type Transport } from './transport.ts';

const MOST_FOLLOWED = 2;

/**
 * The way to the owner of an account by the API of one of these URLs. Where a process says that the owner is comes from a row of
 * the database: the token goes to no other URL than these, and after one of https to none of http. Throws `CommandError` and
 * `ConfigError`.
 */
export function apiTransport(config: object, urls: readonly string[]): Transport {
  const { token, insecure } = apiSettings.of(config).api;
  const open = urls.find((url) => isPlain(url) && !isLoopback(new URL(url).hostname));
  if (open !== undefined && !insecure) {
    const advice = 'use https, or set api.insecure if a network of your own keeps it secret';
    throw new CommandError(EXIT.usage, `over ${open} others could read the token: ${advice}`);
  }
  if (token === undefined) throw new ConfigError('--url needs a token: name its file in ORDER_SYNC_API_TOKEN_FILE');
  const headers = { authorization: `Bearer ${token}` };
  return {
    async send(request, signal) {
      const [asked, failures] = [new Set<string>(), new Map<string, unknown>()];
      let [followed, stranger]: [number, string?] = [0];
      for (let at = urls[0], next: typeof at; at !== undefined; at = next) {
        asked.add(at);
        const reply = await replyOrCause(sendTo(at, request, signal, { headers }));
        if ('httpStatus' in reply && reply.httpStatus !== 421) return reply;
        if ('cause' in reply) failures.set(at, reply.cause);
        const [from, owner] = [at, 'cause' in reply ? undefined : await ownerIn(reply)];
        const isAllowed = (to: string) => urls.includes(to) && (isPlain(from) || !isPlain(to));
        if (owner !== undefined && !isAllowed(owner)) stranger = owner;
        const isFollowed = owner !== undefined && owner !== at && isAllowed(owner) && followed < MOST_FOLLOWED;
        if (isFollowed) followed += 1;
        next = isFollowed ? owner : urls.find((url) => !asked.has(url) && isAllowed(url));
      }
      if (stranger !== undefined) throw new CommandError(EXIT.unavailable, strangerText(stranger, urls));
      const why = [...asked].map((url) => reasonOf(url, failures.get(url))).join('; ');
      // Only if none was reached there is a cause: waiting for another owner would not help.
      throw new NoOwnerError(why, failures.size === asked.size ? { cause: [...failures.values()] } : {});
    },
  };
}

function isPlain(url: string): boolean {
  return url.startsWith('http:');
}

async function replyOrCause(sent: Promise<OwnerReply>): Promise<OwnerReply | { readonly cause: unknown }> {
  return await sent.catch((error: unknown) => {
    if (error instanceof NoOwnerError) return { cause: error.cause };
    throw error;
  });
}

async function ownerIn(reply: OwnerReply): Promise<string | undefined> {
  const result = readEnvelope({ httpStatus: reply.httpStatus, body: await reply.text() });
  return result.kind === 'not-owner' ? apiUrl.safeParse(result.owner).data : undefined;
}

function strangerText(owner: string, urls: readonly string[]): string {
  const advice = urls.includes(owner)
    ? 'a token does not go from https to http: name its https address'
    : `if that host is yours, add --url ${shellWord(owner)}`;
  return `the process at ${owner} drives the account; ${advice}`;
}

function reasonOf(url: string, cause: unknown): string {
  if (cause === undefined) return `${url} does not drive the account`;
  const { message = '', code = '' } = cause as Partial<NodeJS.ErrnoException>;
  const advice = /CERT|SIGNATURE/.test(code) ? ' (NODE_EXTRA_CA_CERTS names the file of an authority of your own)' : '';
  // An error of several addresses has no message.
  return `${url} cannot be reached: ${message || code}${advice}`;
}
