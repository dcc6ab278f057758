import { ConfigError, configOf } from '../settings/config.ts';
import { merchantKey } from '../settings/settings-file.ts';
import { messageOf } from '../base/text.ts';
import { KeyRefusedError } from '../exchange/reply.ts';
import { recordStop, stoppedAccounts } from '../store/tables/account-stops.ts';
import { isPassing, OwnedError, StoreError } from '../store/errors.ts';
import type { Transaction } from '../store/port.ts';
import type { AccountsDeps, OwnedAccount } from './account.ts';

const TRY_AGAIN_MS = 60_000;
/** A database that is out of reach often answers again within seconds, for example after a fail-over. */
const DATABASE_AGAIN_MS = 5_000;
const NEW_KEY = 'an account is stopped: set its exchange.apiKey and restart order-sync; the other accounts continue';
const NEW_KEY_IN_FILE = 'an account is stopped until the key in its file changes; the other accounts continue';
const TRIED_AGAIN = 'an account is stopped and tried again in a minute; the other accounts continue';
const DATABASE_AGAIN = 'a database error prevented the start of an account; the next try follows in 5 s';

/**
 * Stops an account that cannot continue. `retryFailed` tries it again once a minute until it works for a minute. If the
 * database is locked, full or out of reach, the next try comes after 5 s, and the account is not recorded as stopped.
 */
export function stopFailed(deps: AccountsDeps, account: OwnedAccount, error: unknown): void {
  const { log, clock, config } = deps;
  const { name } = account;
  const { exchange } = configOf(config, name);
  const isKeyRefused = error instanceof KeyRefusedError;
  const cause = messageOf(error);
  const key = isKeyRefused ? merchantKey(exchange) : undefined;
  // Remembers the refused key of the file, so that a later `reread` notices another key.
  key?.reread();
  const newKey = exchange.apiKeyFile === undefined ? NEW_KEY : NEW_KEY_IN_FILE;
  const isPassed = isPassing(error) && error.problem !== 'denied';
  log.error({ account: name, cause }, isKeyRefused ? newKey : isPassed ? DATABASE_AGAIN : TRIED_AGAIN);
  account.failure = { key, nextAt: clock.monotonic() + (isPassed ? DATABASE_AGAIN_MS : TRY_AGAIN_MS) };
  // A refused key is recorded as a restraint already. A database that is locked, full or out of reach takes no write.
  if (isKeyRefused || isPassed) return;
  const kind = error instanceof ConfigError ? 'wrong-settings' : 'has-failed';
  record(deps, name, (tx) => recordStop(tx, name, { kind, reason: cause, actor: null, now: clock.now() }));
}

export async function retryStopped(
  { store, clock }: AccountsDeps,
  owned: ReadonlyMap<string, OwnedAccount>,
  names: readonly string[],
): Promise<void> {
  const stopped = new Set((await stoppedAccounts(store.db, undefined)).map(({ account }) => account));
  for (const name of names) {
    const account = owned.get(name);
    if (account === undefined || !stopped.has(name)) continue;
    account.failure = { key: undefined, nextAt: clock.monotonic() + TRY_AGAIN_MS };
    account.tryAgain();
  }
}

/** Tries a failed account again once a minute. If it has not failed since the last try, records the end of its stop. */
export function retryFailed(deps: AccountsDeps, account: OwnedAccount): void {
  const { clock } = deps;
  const { name, failure } = account;
  const now = clock.monotonic();
  if (failure === undefined || failure.nextAt > now || account.accountLease.ending.aborted) return;
  failure.nextAt = now + TRY_AGAIN_MS;
  if (!account.hasFailed) {
    account.failure = undefined;
    const end = { kind: null, reason: 'the account works again', actor: null, now: clock.now() };
    record(deps, name, (tx) => recordStop(tx, name, end));
  } else if (failure.key === undefined || failure.key.reread()) account.tryAgain();
}

/** Writes without the lease, because on PostgreSQL an owner's write fails while the database is in an older state. */
function record({ store, log }: AccountsDeps, account: string, work: (tx: Transaction) => Promise<void>): void {
  store
    .forAccount(account)
    .writer.write(work)
    .catch((error: unknown) =>
      log.warn(
        { account, cause: messageOf(error) },
        'the stop of the account, or the end of the stop, cannot be recorded',
      ),
    );
}

/** True if another worker took the account, for example while this process stood still. The other accounts continue. */
export function isOvertaken({ config }: Pick<AccountsDeps, 'config'>, error: unknown): boolean {
  return config.database.kind === 'postgres' && error instanceof OwnedError;
}

/** True if the error concerns all accounts: the SQLite file was moved, cannot be used, or has another owner. */
export function concernsAllAccounts(
  { config, store }: Pick<AccountsDeps, 'config' | 'store'>,
  error: unknown,
): boolean {
  if (!store.isInPlace()) return true;
  const isOfFile = error instanceof OwnedError || (error instanceof StoreError && error.problem === 'unusable');
  return config.database.kind === 'sqlite' && isOfFile;
}
