import type { Command } from 'commander';
import { type Accounts, ALL, accountGiven, accountOf, hasDefault } from '../../cli/shared/account.ts';

/** Returns the account to which a list or a report is limited; undefined for `all`. Throws as `accountOf` does. */
export function accountFilterOf(command: Command, config: Accounts): string | undefined {
  const account = accountOf(command, config);
  return account === ALL ? undefined : account;
}

/** As `accountFilterOf`, but returns undefined if no account is named and the settings have no default account. */
export function accountOrAll(command: Command, config: Accounts): string | undefined {
  const isDecided = accountGiven(command) !== undefined || hasDefault(config);
  return isDecided ? accountFilterOf(command, config) : undefined;
}

export function isOfAll(command: Command): boolean {
  return accountGiven(command) === ALL;
}
