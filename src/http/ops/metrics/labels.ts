/** The accounts beyond these are counted together. */
const MOST_ACCOUNTS = 50;
/** The label of all others. */
export const OTHERS = 'other';

/** Names accounts in metrics: the first of the settings by their names, all others together. */
export function accountLabels(names: readonly string[]): (account: string) => string {
  const known = new Set(names.slice(0, MOST_ACCOUNTS));
  return (account) => (known.has(account) ? account : OTHERS);
}
