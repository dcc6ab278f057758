/** The account of a world that has one. */
export const FIRST_ACCOUNT = 'default';

/** The merchant key of an account, which must be seen nowhere. */
export function keyOf(account: string): string {
  return account === FIRST_ACCOUNT ? 'canary-key-31' : `canary-key-${account}`;
}

/** The id of an order for people, with its account if it is not the first one. */
export function quoted(account: string, id: string): string {
  return `${account === FIRST_ACCOUNT ? '' : `${account} `}${JSON.stringify(id)}`;
}
