import { shellWord } from '../text.ts';

/** The account of a row that names none. */
export const DEFAULT_ACCOUNT = 'default';

export const ACCOUNT_NAME = /^(?!all$|\.+$)[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$/;

/** What such a name may be, in a sentence. */
export const ACCOUNT_NAME_FORM =
  'a name of 1 to 64 letters, digits, dots, underscores and hyphens, which begins with no hyphen, has more than dots and is not "all"';

/** The words by which a command is about an account, with a space before them: none for the default one, which it is about anyway. */
export function accountWords(account: string): string {
  return account === DEFAULT_ACCOUNT ? '' : ` --account ${shellWord(account)}`;
}
