import { InvalidArgumentError, Option, type Command } from 'commander';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM, DEFAULT_ACCOUNT } from '../../domain/accounts/name.ts';

/** Whether a command is about one account, or may be about all of them too. */
export type AccountScope = 'one' | 'one-or-all';

/** The option of a command that is about an account. */
export interface AccountOptions {
  readonly account?: string;
}

/** Stands for every account that has orders, whether it is in the settings or not. */
const ALL = 'all';

/** Adds `--account`. */
export function addAccountOption(command: Command, scope: AccountScope): void {
  const text = scope === 'one' ? 'the account' : 'the account, or all';
  const option = new Option('--account <name>', `${text} (default: ${DEFAULT_ACCOUNT})`);
  command.addOption(
    option.argParser((name) => {
      if (ACCOUNT_NAME.test(name) || (name === ALL && scope === 'one-or-all')) return name;
      throw new InvalidArgumentError(
        name === ALL ? 'This command is about one account.' : `Give ${ACCOUNT_NAME_FORM}.`,
      );
    }),
  );
}

/** The account that a command is about: the default one, unless `--account` says otherwise. */
export function accountOf(command: Command): string {
  return command.optsWithGlobals<AccountOptions>().account ?? DEFAULT_ACCOUNT;
}

/** The account that a list or a report is about; undefined for all of them. */
export function accountFilterOf(command: Command): string | undefined {
  const account = accountOf(command);
  return account === ALL ? undefined : account;
}
