import type { Config } from './config.ts';

type Accounts = Pick<Config, 'accounts'>;

/** Groups the accounts that share a rate limit, which one process must own together. Each other account is alone. */
export function groupsOf({ accounts }: Accounts): readonly (readonly string[])[] {
  const groups = Map.groupBy(accounts, ({ name, rateGroup }) =>
    JSON.stringify(rateGroup === undefined ? { name } : { rateGroup }),
  );
  return [...groups.values()].map((group) => group.map(({ name }) => name));
}

export function groupOf({ accounts }: Accounts, account: string): readonly string[] {
  const rateGroup = accounts.find(({ name }) => name === account)?.rateGroup;
  if (rateGroup === undefined) return [account];
  return accounts.filter((one) => one.rateGroup === rateGroup).map(({ name }) => name);
}
