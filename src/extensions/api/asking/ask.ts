import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import type { AccountSettings, Config } from '../../../settings/config.ts';
import { after } from '../../../base/instant.ts';
import { EXCHANGE_OPERATIONS } from '../addresses.ts';
import { Owner, OwnerGoneError, OwnerRefusalError } from './client.ts';
import type { SyncResult } from '../../../orders/sync.ts';
import { SOCKET_CALLER } from '../caller.ts';
import type { AskedOperation, InputOf, OperationAddress } from '../operation.ts';
import type { FailedResult, Result } from '../envelope.ts';
import { NoOwnerError } from '../../shop/transport.ts';
import { apiTransport, controlSocketOf, socketTransport } from './transport.ts';
import type { Ways } from './ways.ts';
import { printable } from '../../../base/words.ts';
import { answerText, type Tones } from '../../commands/answer.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import type { AskedPass, Beside } from '../../../cli/extension.ts';
import { throughOwner } from '../../../cli/shared/owner.ts';
import { extensionsOf } from '../../../cli/shared/extensions.ts';
import { accountConfig, urlsOf } from '../../../cli/shared/options.ts';
import { OwnedError, StoreError } from '../../../store/errors.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { refusalReason } from './refusal-reason.ts';
import type { RefusalReason } from '../../shop/errors.ts';

/** How long the owner may need, after the timeout of a request, to record the outcome. */
const OWNER_WRITES_MS = 10_000;

/** Returns a way to an account's owner. `ask` calls `work` with the owner, or returns undefined if no owner answers. */
export async function besideOwner<Value>(
  config: AccountSettings,
  work: (owner: Owner) => Promise<Value>,
  { signal, urls }: Partial<Pick<AskedPass, 'signal' | 'urls'>>,
): Promise<Beside<Value>> {
  const ways = await waysToOwner(config, urls);
  const asking = { account: config.account, graceMs: config.exchange.timeout + OWNER_WRITES_MS, signal };
  return {
    get unreachable() {
      return ways.unreachable;
    },
    async ask() {
      let last: NoOwnerError | undefined;
      for (const way of await ways.find()) {
        try {
          return { value: await work(new Owner(way, asking)) };
        } catch (error) {
          if (error instanceof OwnerRefusalError) throw commandError(error.result);
          if (!(error instanceof NoOwnerError)) throw error;
          last = error;
        }
      }
      if (urls !== undefined && last?.misses.values().every((miss) => 'cause' in miss) === true) {
        // No process could be reached, so waiting for another owner would not help.
        throw new CommandError(EXIT.unavailable, last.message);
      }
      if (ways.elsewhere !== undefined) throw new OwnedError(ways.elsewhere);
      return undefined;
    },
    [Symbol.asyncDispose]: () => ways[Symbol.asyncDispose](),
  };
}

const NOTHING_OPEN = { [Symbol.asyncDispose]: async () => {} };

/** Returns the API at the URLs of the command, the socket of a SQLite file, or the ways that PostgreSQL names. */
async function waysToOwner(config: AccountSettings, urls: AskedPass['urls']): Promise<Ways> {
  if (urls !== undefined) {
    const way = apiTransport(config, urls);
    const elsewhere = `no process that was asked drives the account ${config.account}`;
    return { ...NOTHING_OPEN, find: async () => [way], elsewhere, unreachable: urls.join(', ') };
  }
  if (config.database.kind !== 'sqlite') {
    // The module is loaded only here, because loading the database code takes longer than asking a socket.
    return await (await import('./ways.ts')).waysByDatabase(config);
  }
  const socketPath = controlSocketOf(config);
  const socket = socketTransport(socketPath);
  return { ...NOTHING_OPEN, find: async () => [socket], unreachable: `it does not listen on ${socketPath}` };
}

/**
 * Asks the daemon of `account`. Without `account`, asks the daemon of the first account about all accounts. If no
 * daemon answers, returns undefined, and the caller reads the database. With `--url`, throws `CommandError` instead.
 */
export async function readFromDaemon(command: Command, config: Config, operation: OperationAddress, account?: string) {
  const urls = urlsOf(command);
  const driven = config.accounts.find(({ name }) => account === undefined || name === account);
  if (driven === undefined && urls === undefined) return undefined;
  await using ways = await waysToOwner({ ...config, account: driven?.name ?? '' }, urls);
  for (const way of await ways.find(true)) {
    const result = await new Owner(way, { account: account ?? 'all', graceMs: 0 }).read(operation);
    if (result.kind === 'ok') return JSON.parse(result.body) as unknown;
    if (urls !== undefined) throw commandError(result);
  }
  return undefined;
}

/** Asks the daemon that drives the account for a pass, and shows the progress of the pass. */
export async function passBeside(
  config: AccountSettings,
  { scope, timeoutMs, progress, ...options }: AskedPass,
): Promise<Beside<SyncResult>> {
  const pass = async (owner: Owner) => {
    for await (const line of owner.sync({ scope, timeoutMs })) {
      if (line.type === 'progress') progress.show(line);
      if (line.type === 'result') return { summary: line.summary, end: line.end, holds: line.holds };
      if (line.type === 'error') {
        const message = `the daemon's pass failed: ${line.message}`;
        throw line.problem === undefined ? new Error(message) : new StoreError(line.problem, message);
      }
    }
    throw new OwnerGoneError('the daemon stopped before its pass was done; run sync again');
  };
  return await besideOwner(config, pass, options);
}

/** Does one operation, by the owner or in this process. Throws `UnusableIdError` if an id cannot be sent. */
export type Ask = <Asked extends AskedOperation>(operation: Asked, input: InputOf<Asked>) => Promise<Result>;

export async function withExchange<Value>(
  command: Command,
  work: (ask: Ask, config: AccountSettings, isAlone: boolean) => Promise<Value>,
  // The settings, if the caller has read them already, because a key in a pipe can be read only once.
  given?: AccountSettings,
): Promise<Value> {
  const config = given ?? (await accountConfig(command));
  const askIt = (owner: Owner) => work((operation, input) => owner.ask(operation, input), config, false);
  await using beside = await besideOwner(config, askIt, { urls: urlsOf(command) });
  return await throughOwner(config, extensionsOf(command), beside, async (app, complete) => {
    const deps = { ...app, wakeCreates: () => {}, caller: SOCKET_CALLER };
    return await work(async (operation, input) => await (await operation.load()).run(deps, input), complete, true);
  });
}

/** Looks up an unknown id, to see if the exchange takes the key. `isAlone`: this process asked, and no daemon did. */
export async function tryKey(command: Command, config: AccountSettings) {
  const externalOrderId = `order-sync-check-${randomUUID()}`;
  const look = async (askOwner: Ask, _: Config, isAlone: boolean) => {
    return { ...(await askOwner(EXCHANGE_OPERATIONS.lookUpOrder, { externalOrderId })), isAlone };
  };
  return await withExchange(command, look, config);
}

/** Does one operation and returns the answer as received. `isAlone`: no daemon was asked. Throws `CommandError`. */
export async function ask<Asked extends AskedOperation>(command: Command, operation: Asked, input: InputOf<Asked>) {
  return await withExchange(command, async (askOwner, config, isAlone) => {
    const result = await askOwner(operation, input);
    if (result.kind !== 'ok') throw commandError(result, absentFor(operation, input));
    return { body: result.body, config, isAlone };
  });
}

export function printAnswer(body: string, asJson: boolean | undefined, tones?: Tones): void {
  process.stdout.write(asJson === true ? `${body}\n` : answerText(body, screenOf(), tones));
}

/** Prints the answer of §4.2 or §4.5. Throws `CommandError` if its status is not `documented`. */
export function printWord(body: string, documented: 'OK' | 'ok', asJson: boolean | undefined): void {
  printAnswer(body, asJson);
  const { status } = JSON.parse(body) as { status: string };
  if (status === documented) return;
  throw new CommandError(EXIT.look, `the exchange answered ${JSON.stringify(status)}, and not ${documented}`);
}

function absentFor({ absent = 'no link' }: OperationAddress, input: object): string | undefined {
  const { linkId, externalOrderId, id } = input as Readonly<Record<string, string | undefined>>;
  if (externalOrderId !== undefined) return `no order with the external order id ${JSON.stringify(externalOrderId)}`;
  if (id !== undefined) return `no pre-order with the id ${JSON.stringify(id)}`;
  // An error must not quote an e-mail address that a person gave by mistake.
  if (linkId?.includes('@') === true) return 'an e-mail address is no link id: no such link';
  if (linkId === undefined) return undefined;
  return `${absent} ${JSON.stringify(linkId)}`;
}

const KEY_REFUSED = 'the exchange refuses the key (401): check that it is your merchant key for this exchange';

/** Returns the error for a failed result. The texts of a result have no e-mail addresses or tokens. */
export function commandError(result: FailedResult, absent?: string): CommandError {
  const unavailable = (text: string) => new CommandError(EXIT.unavailable, text);
  switch (result.kind) {
    case 'refused':
      return refusal(result, absent);
    case 'key-refused':
      return new CommandError(EXIT.keyRefused, KEY_REFUSED);
    case 'rate-limited': {
      const until = after(systemClock().now(), result.retryAfterMs).toISOString();
      return unavailable(`the exchange limits the rate; try again at ${until}`);
    }
    case 'not-sent':
      return unavailable(`no request reached the exchange: ${result.why}; try again, or run order-sync doctor`);
    case 'unknown':
      return unavailable(`the exchange gave no usable answer: ${result.why}`);
    case 'unusable':
      return new CommandError(EXIT.usage, result.message);
    case 'invalid':
      return result.httpStatus === 404
        ? unavailable('the daemon does not know this operation: it may run another version of order-sync; restart it')
        : new CommandError(EXIT.usage, `the daemon refuses this request: ${result.message}`);
    case 'unauthorized':
      return new CommandError(EXIT.config, `the API does not take the token: ${result.message}`);
    case 'forbidden':
      return new CommandError(EXIT.config, `the token may not do this: ${result.message}`);
    case 'limited':
      return unavailable(`the token asks too often: ${result.message}; try again`);
    case 'not-owner':
    case 'failed':
      return unavailable(`the daemon could not do the operation: ${result.message}`);
  }
}

const MEANING: Partial<Record<RefusalReason, string>> = {
  'invalid-email': 'the exchange does not take the e-mail address',
  'link-already-exists': 'there is a link for this e-mail address already',
  'upload-url-not-set': 'the exchange has no address to deliver photos to; set it in the merchant settings there',
};

function refusal(result: Extract<Result, { kind: 'refused' }>, absent: string | undefined): CommandError {
  const { message, status, code } = result.error;
  const said = `HTTP ${result.httpStatus} ${printable(status ?? code)}: ${printable(message)}`;
  const notFound = result.httpStatus === 404 && absent !== undefined ? `${absent} at the exchange` : undefined;
  const meaning = MEANING[refusalReason(result)] ?? notFound;
  const text = meaning === undefined ? `the exchange refused: ${said}` : `${meaning} (${said})`;
  return new CommandError(notFound === undefined ? EXIT.look : EXIT.absent, text);
}
