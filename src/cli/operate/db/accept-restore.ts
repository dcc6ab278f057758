import type { Command } from 'commander';
import { systemClock, type Clock } from '../../../clock.ts';
import type { Config } from '../../../config/config.ts';
import { accountWords } from '../../../domain/accounts/name.ts';
import { acceptRestore, type AcceptedRestore } from '../../../flows/orders/restore.ts';
import { accountsIn } from '../../../store/accounts.ts';
import { openStore } from '../../../store/open.ts';
import type { Store } from '../../../store/port.ts';
import { lockFile } from '../../../store/sqlite/owner.ts';
import { accountFilterOf, type AccountOptions } from '../../shared/account.ts';
import { actorOf, addReasonOptions, confirm } from '../../shared/decision.ts';
import { counted } from '../../../reports/formats/words.ts';
import { plainConfig, wholeNumber } from '../../shared/options.ts';
import { decide, type FailOverOptions } from './decide-fail-over.ts';

const HELP = `
For a database that was put back to an older state. It does not know what was
sent after the copy was made, so every order in it that may have been sent since
becomes unknown: it is looked up, and then held for a person. Creates are paused
until resume.
Stop the daemon of a SQLite file first. In PostgreSQL it is about one account,
or about all; the workers go on.

After a standby of PostgreSQL was promoted nothing was put back, but its last
commits may be lost. The orders that may have been sent then are unknown under
one finding, and the workers go on. Ask the exchange, then decide on all of them
with --failover and --sent or --not-sent, or on those of a --file.

Examples:
  order-sync db accept-restore
  order-sync db accept-restore --account shop-1
  order-sync db accept-restore --assume-not-sent \\
    --reason 'a copy for tests, its exchange is the sandbox'
  order-sync db accept-restore --failover 7 --not-sent --file ids.txt \\
    --reason 'the exchange has none of them'`;
const QUESTION =
  'Nothing shows that this database was put back. Every order that waits to be sent would be looked up and held instead. Go on? (y/N) ';

const REASON = 'the database was put back to an older state';

interface RestoreOptions extends FailOverOptions {
  readonly assumeNotSent?: boolean;
}

/** `order-sync db accept-restore`. */
export function define(command: Command): void {
  addReasonOptions(command, { isMandatory: false })
    .option('--assume-not-sent', 'you know that nothing was sent since: orders stay as they are, nothing is paused')
    .option(
      '--failover <id>',
      'decide on the orders that a fail-over of PostgreSQL left in doubt',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--sent', 'with --failover: they were sent, so they are followed')
    .option('--not-sent', 'with --failover: they were not sent, so they are sent now')
    .option('--file <ids>', 'with --failover: only the orders whose ids stand in this file, one a line')
    .option('--yes', 'do not ask, also where nothing shows that it was put back')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: RestoreOptions) => {
      const { reason, assumeNotSent: isNothingSent = false, failover } = options;
      if (failover !== undefined) return await decide(command, failover, options);
      if (isNothingSent && reason === undefined) command.error('error: --assume-not-sent needs --reason');
      const config = plainConfig(command);
      const clock = systemClock();
      await using restored = await openRestored(config, command, clock);
      const stores = await restored.stores();
      const signs = await Promise.all(stores.map((store) => showsRestore(store)));
      if (options.yes !== true && !signs.every(Boolean)) await confirm(QUESTION);
      const acceptance = { actor: actorOf(options), reason: reason ?? REASON, isNothingSent };
      const all: AcceptedRestore[] = [];
      for (const store of stores) {
        const accounts =
          store.mark.account === undefined ? config.accounts.map(({ name }) => name) : [store.mark.account];
        all.push(await acceptRestore({ accounts, store, clock, settings: config.create }, acceptance));
      }
      print(inAll(all), options, restored.account);
    });
}

/** The database, and what has a mark in it: the whole file, or an account. */
interface Restored extends AsyncDisposable {
  /** The one account that it is about; undefined for several. */
  readonly account: string | undefined;
  stores(): Promise<readonly Store[]>;
}

async function openRestored({ database, ...config }: Config, command: Command, clock: Clock): Promise<Restored> {
  const account = accountAccepted(command, { database, ...config });
  await using undo = new AsyncDisposableStack();
  if (database.kind === 'sqlite') {
    const lock = await lockFile(database.path, clock, 0);
    undo.defer(() => lock.release());
  }
  const store = undo.adopt(await openStore(database, clock, { expect: 'upgrade', isRestored: true }), (opened) =>
    opened.close(),
  );
  const disposal = undo.move();
  const stores = async () => {
    if (database.kind === 'sqlite') return [store];
    const known = [...config.accounts.map(({ name }) => name), ...(await accountsIn(store.db, 'merchant_orders'))];
    return (account === undefined ? [...new Set(known)] : [account]).map((name) => store.forAccount(name));
  };
  return { account, stores, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

/** The account to accept; undefined for several. A SQLite file has one mark for all. */
function accountAccepted(command: Command, { database, accounts }: Config): string | undefined {
  if (database.kind === 'postgres') return accountFilterOf(command, { accounts });
  if (command.optsWithGlobals<AccountOptions>().account !== undefined) {
    command.error('error: a SQLite file is put back with all its accounts; leave --account out');
  }
  return accounts.length === 1 ? accounts[0]?.name : undefined;
}

async function showsRestore({ mark }: Store): Promise<boolean> {
  return (await mark.sign()) !== undefined;
}

/** The accounts together: all the time that is missing in any of them. */
function inAll([first, ...others]: readonly AcceptedRestore[]): AcceptedRestore {
  const none: AcceptedRestore = { missing: { from: null, to: null }, orders: 0 };
  return others.reduce((all, { missing, orders }) => {
    const from = pick(all.missing.from, missing.from, (one, other) => one < other);
    const to = pick(all.missing.to, missing.to, (one, other) => one > other);
    return { missing: { from, to }, orders: all.orders + orders };
  }, first ?? none);
}

/** One of two times; null, which is unknown, where one of them is. */
function pick(
  one: string | null,
  other: string | null,
  isFirst: (one: string, other: string) => boolean,
): string | null {
  return one === null || other === null ? null : isFirst(one, other) ? one : other;
}

function print(
  { missing, orders }: AcceptedRestore,
  { json, assumeNotSent }: RestoreOptions,
  account: string | undefined,
): void {
  if (json === true) {
    process.stdout.write(`${JSON.stringify({ missing, orders })}\n`);
    return;
  }
  process.stdout.write(
    `missing: from ${missing.from ?? 'the beginning'} to ${missing.to ?? 'a time that nothing tells'}\n`,
  );
  if (assumeNotSent === true) {
    process.stdout.write('orders are as they were, and are sent when they are due\n');
    return;
  }
  const [one, all] =
    account === undefined ? [' --account NAME', ' --account all'] : [accountWords(account), accountWords(account)];
  process.stdout.write(
    `${counted(orders, 'order')} may have been sent since; what may have been sent is unknown or held, and looked up\n` +
      `put in what was ordered in that time: order-sync orders import FILE${one} --may-have-been-sent\n` +
      `nothing is created until: order-sync resume${all} --reason TEXT\n`,
  );
}
