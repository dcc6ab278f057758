import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { MerchantKey } from '../config/merchant-key.ts';
import { KeyRefusedError } from '../exchange/refusals.ts';
import { OwnedError, StoreError } from '../store/errors.ts';
import type { Store } from '../store/port.ts';
import type { OwnedAccount } from './owned-account.ts';

const TRY_AGAIN_MS = 60_000;

interface Failed {
  readonly account: OwnedAccount;
  /** The key that was refused: the account is tried again with another one. */
  readonly key: MerchantKey | undefined;
  tryAt: number;
}

/** The accounts that could not go on while others do, until they are tried again. */
export class FailedAccounts {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  readonly #failed = new Map<string, Failed>();

  constructor(clock: Pick<Clock, 'monotonic'>, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** An account has failed. */
  add(account: OwnedAccount, error: unknown, exchange: ConstructorParameters<typeof MerchantKey>[0]): void {
    const isKeyRefused = error instanceof KeyRefusedError;
    const facts = { account: account.name, cause: error instanceof Error ? error.message : String(error) };
    if (isKeyRefused && exchange.apiKeyFile === undefined) {
      this.#log.error(facts, 'an account is stopped: set its exchange.apiKey and start again; others go on');
    } else if (isKeyRefused) {
      this.#log.error(facts, 'an account is stopped until another key is in its file; others go on');
    } else {
      this.#log.error(facts, 'an account is stopped and tried again in a minute; others go on');
    }
    const key = isKeyRefused ? new MerchantKey(exchange) : undefined;
    // The one that was refused.
    if (key !== undefined) isOther(key);
    this.#failed.set(account.name, { account, key, tryAt: this.#clock.monotonic() + TRY_AGAIN_MS });
  }

  /** Tries those again whose time has come. */
  tryAgain(): void {
    const now = this.#clock.monotonic();
    for (const [name, failed] of this.#failed) {
      if (failed.tryAt > now) continue;
      failed.tryAt = now + TRY_AGAIN_MS;
      if (failed.account.hasFailed && failed.key !== undefined && !isOther(failed.key)) continue;
      this.#failed.delete(name);
      if (failed.account.hasFailed) failed.account.tryAgain();
    }
  }
}

interface Database {
  readonly config: Pick<Config, 'database'>;
  readonly store: Pick<Store, 'isInPlace'>;
}

/** True where another worker has followed, as after this process stood still: that ends the account here, and nothing else. */
export function isOvertaken({ config }: Database, error: unknown): boolean {
  return config.database.kind === 'postgres' && error instanceof OwnedError;
}

/** True where all accounts fail by this: a SQLite file has one owner and one mark for all of them. */
export function isOfAll({ config, store }: Database, error: unknown): boolean {
  if (!store.isInPlace()) return true;
  const isOfFile = error instanceof OwnedError || (error instanceof StoreError && error.problem === 'unusable');
  return config.database.kind === 'sqlite' && isOfFile;
}

function isOther(key: MerchantKey): boolean {
  try {
    return key.reread();
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
