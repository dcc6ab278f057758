import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Config } from '../../settings/config.ts';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM, DEFAULT_ACCOUNT } from '../../accounts/rules/name.ts';
import { CommandError, EXIT } from './exit.ts';

export type AccountScope = 'one' | 'one-or-all';

export type Accounts = Pick<Config, 'accounts'>;

/** Stands for all accounts with orders (lists, reports) or all accounts of the settings (`pause`, `resume`). */
export const ALL = 'all';

class AccountOption extends Option {
  readonly scope: AccountScope;
  constructor(scope: AccountScope) {
    const text = scope === 'one' ? 'the account' : 'the account, or all';
    super('--account <name>', `${text} (default: ${DEFAULT_ACCOUNT})`);
    this.scope = scope;
  }
}

export function addAccountOption(command: Command, scope: AccountScope): void {
  command.addOption(
    new AccountOption(scope).argParser((name) => {
      if (ACCOUNT_NAME.test(name) || (name === ALL && scope === 'one-or-all')) return name;
      throw new InvalidArgumentError(
        name === ALL ? 'This command is about one account.' : `Give ${ACCOUNT_NAME_FORM}.`,
      );
    }),
  );
}

export function accountGiven(command: Command): string | undefined {
  return command.optsWithGlobals<{ readonly account?: string }>().account;
}

/** Throws `CommandError` if `--account` is not given and no account of the settings is the default account. */
export function accountOf(command: Command, { accounts }: Accounts): string {
  const given = accountGiven(command);
  if (given !== undefined || hasDefault({ accounts })) return given ?? DEFAULT_ACCOUNT;
  const [first] = accounts;
  const isOne = !command.options.some((option) => option instanceof AccountOption && option.scope === 'one-or-all');
  const there =
    accounts.length === 1
      ? `there is one account, ${first?.name}, and it is not named ${DEFAULT_ACCOUNT}`
      : `there are ${accounts.length} accounts and none is named ${DEFAULT_ACCOUNT}`;
  throw new CommandError(EXIT.config, `${there}: use --account NAME${isOne ? '' : ' or --account all'}`);
}

export function hasDefault({ accounts }: Accounts): boolean {
  return accounts.some(({ name }) => name === DEFAULT_ACCOUNT);
}
