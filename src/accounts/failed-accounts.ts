import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { MerchantKey } from '../config/settings-file.ts';
import { messageOf } from '../domain/text.ts';
import { KeyRefusedError } from '../exchange/reply.ts';
import { endStop, recordStop, stoppedAccounts } from '../store/account-stops.ts';
import { OwnedError, StoreError } from '../store/errors.ts';
import type { Store, Transaction } from '../store/port.ts';
import type { OwnedAccount } from './account.ts';

const TRY_AGAIN_MS = 60_000;
const NEW_KEY = 'an account is stopped: set its exchange.apiKey and start again; others go on';
const NEW_KEY_IN_FILE = 'an account is stopped until another key is in its file; others go on';
const TRIED_AGAIN = 'an account is stopped and tried again in a minute; others go on';

interface FailedDeps {
  readonly store: Pick<Store, 'db' | 'forAccount'>;
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly log: Logger;
}

interface Failed {
  readonly account: OwnedAccount;
  /** The key that was refused: the account is tried again with another one. */
  readonly key: MerchantKey | undefined;
  /** When the account is tried again or, if it has gone on since, is no longer stopped. */
  nextAt: number;
}

/** The accounts that could not go on while others do: each is tried again once a minute until it goes on for a minute. */
export class FailedAccounts {
  readonly #deps: FailedDeps;
  readonly #failed = new Map<string, Failed>();

  constructor(deps: FailedDeps) {
    this.#deps = deps;
  }

  add(account: OwnedAccount, error: unknown, exchange: ConstructorParameters<typeof MerchantKey>[0]): void {
    const { log, clock } = this.#deps;
    const isKeyRefused = error instanceof KeyRefusedError;
    const cause = messageOf(error);
    const key = isKeyRefused ? new MerchantKey(exchange) : undefined;
    // The key in the file is the one that was refused.
    key?.reread();
    const newKey = exchange.apiKeyFile === undefined ? NEW_KEY : NEW_KEY_IN_FILE;
    log.error({ account: account.name, cause }, isKeyRefused ? newKey : TRIED_AGAIN);
    this.#failed.set(account.name, { account, key, nextAt: clock.monotonic() + TRY_AGAIN_MS });
    // A refused key has a hold instead.
    if (isKeyRefused) return;
    const kind = error instanceof ConfigError ? 'wrong-settings' : 'has-failed';
    this.#record(account, (tx) => recordStop(tx, account.name, { kind, reason: cause, now: clock.now() }));
  }

  async takeUp(accounts: readonly OwnedAccount[]): Promise<void> {
    const stopped = new Set((await stoppedAccounts(this.#deps.store.db, undefined)).map(({ account }) => account));
    const nextAt = this.#deps.clock.monotonic() + TRY_AGAIN_MS;
    for (const account of accounts) {
      if (!stopped.has(account.name)) continue;
      this.#failed.set(account.name, { account, key: undefined, nextAt });
      account.tryAgain();
    }
  }

  tryAgain(): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    for (const [name, failed] of this.#failed) {
      const { account, key } = failed;
      if (account.accountLease.ending.aborted) this.#failed.delete(name);
      else if (failed.nextAt <= now) {
        failed.nextAt = now + TRY_AGAIN_MS;
        if (!account.hasFailed) {
          this.#failed.delete(name);
          const end = { reason: 'the account is driven', actor: null, now: clock.now() };
          this.#record(account, (tx) => endStop(tx, name, end));
        } else if (key === undefined || key.reread()) account.tryAgain();
      }
    }
  }

  /** Writes without ownership: an owner cannot write to a database in an older state. */
  #record({ name }: OwnedAccount, work: (tx: Transaction) => Promise<void>): void {
    const { store, log } = this.#deps;
    store
      .forAccount(name)
      .writer.write(work)
      .catch((error: unknown) =>
        log.warn({ account: name, cause: messageOf(error) }, 'whether the account is stopped cannot be recorded'),
      );
  }
}

interface Database {
  readonly config: Pick<Config, 'database'>;
  readonly store: Pick<Store, 'isInPlace'>;
}

/** True if another worker has followed, as after this process stood still: that ends the account here, and nothing else. */
export function isOvertaken({ config }: Database, error: unknown): boolean {
  return config.database.kind === 'postgres' && error instanceof OwnedError;
}

/** True if all accounts fail by this: a SQLite file has one owner and one mark for all of them. */
export function isOfAll({ config, store }: Database, error: unknown): boolean {
  if (!store.isInPlace()) return true;
  const isOfFile = error instanceof OwnedError || (error instanceof StoreError && error.problem === 'unusable');
  return config.database.kind === 'sqlite' && isOfFile;
}
