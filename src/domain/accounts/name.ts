/** The account of a row that names none. */
export const DEFAULT_ACCOUNT = 'default';

/** The name of an account, or of a group of accounts. */
export const ACCOUNT_NAME = /^(?!all$|\.+$)[A-Za-z0-9._][A-Za-z0-9._-]{0,63}$/;

/** What such a name may be, in a sentence. */
export const ACCOUNT_NAME_FORM =
  'a name of 1 to 64 letters, digits, dots, underscores and hyphens, which begins with no hyphen, has more than dots and is not "all"';
