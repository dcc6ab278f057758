import { shellWord } from '../../base/text.ts';

/** The account of a row that names none. */
export const DEFAULT_ACCOUNT = 'default';

export const ACCOUNT_NAME = /^(?!all$|\.+$)[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$/;

export const ACCOUNT_NAME_FORM =
  'a name of 1 to 64 letters, digits, dots, underscores and hyphens, which does not begin with a hyphen, does not consist of dots alone and is not "all"';

/** The option of a command that names the account, after a space; empty for the default account. */
export function accountWords(account: string): string {
  return account === DEFAULT_ACCOUNT ? '' : ` --account ${shellWord(account)}`;
}
