import { DEFAULT_ACCOUNT } from '../domain/accounts/name.ts';
import { suggestion } from '../domain/text.ts';
import { laidOver, nested, problemsOf, type Entries } from './layer.ts';
import type { Layers } from './layers.ts';
import { ACCOUNT, type AccountSettings, type ConfigProblem, type Settings } from './settings.ts';

/**
 * The settings of one account, each complete: its own, the general ones where it has none, the defaults. A key of its own that
 * stands in a file is not read yet: `requireExchange` reads it.
 */
export type AccountConfig = AccountSettings & { readonly name: string };

/** A message names so many accounts. */
const MOST_NAMES = 5;
const PARTS = ['rateGroup', 'exchange', 'create', 'guard', 'follow'] as const;
type Part = (typeof PARTS)[number];

/** Lays the settings of accounts over the general ones. Accounts with equal settings share them. */
export function accountsOf(
  { entries, accounts }: Pick<Layers, 'entries' | 'accounts'>,
  settings: Settings | undefined,
): { readonly accounts: AccountConfig[]; readonly problems: ConfigProblem[] } {
  const general = { rateGroup: undefined, ...settings };
  const problems: ConfigProblem[] = [];
  const shared = new Map<string, ReturnType<typeof readPart>>();
  const byPart = new Map(PARTS.map((part) => [part, partOf(entries, part)]));
  const valueOf = (name: string, own: Entries, part: Part) => {
    const written = partOf(own, part);
    if (written.size === 0) return general[part];
    const key = JSON.stringify([...written].map(([path, { value }]) => [path, value]));
    const result = shared.get(key) ?? readPart(part, laidOver(byPart.get(part) ?? entries, written));
    shared.set(key, result);
    const issues = result.error?.issues ?? [];
    problems.push(...issues.flatMap((issue) => problemsOf(issue, [part, ...issue.path], entries, { name, own })));
    return result.data;
  };
  const all = accounts.size === 0 ? new Map([[DEFAULT_ACCOUNT, new Map()]]) : accounts;
  const read = [...all].map(([name, own]) => {
    const parts = Object.fromEntries(PARTS.map((part) => [part, valueOf(name, own, part)]));
    return { ...(parts as AccountSettings), name };
  });
  return { accounts: read, problems };
}

function partOf(entries: Entries, part: Part): Entries {
  return new Map([...entries].filter(([path]) => path === part || path.startsWith(`${part}.`)));
}

function readPart(part: Part, entries: Entries) {
  return ACCOUNT.shape[part].safeParse(nested(entries)[part]);
}

/** Accounts that share one limit and say differently how large it is, or how it is kept. */
export function rateGroupProblems(accounts: readonly AccountConfig[], entries: Layers['accounts']): ConfigProblem[] {
  const first = new Map<string, AccountConfig>();
  return accounts.flatMap((account) => {
    const { name, rateGroup: group, exchange } = account;
    if (group === undefined) return [];
    const other = first.get(group);
    if (other === undefined) first.set(group, account);
    const rate = other?.exchange.rate ?? exchange.rate;
    const { requests, interval, mode } = exchange.rate;
    if (rate.requests === requests && rate.interval === interval && rate.mode === mode) return [];
    const setting = `accounts.${name}.exchange.rate`;
    const source = entries.get(name)?.get('rateGroup')?.source;
    const problem = `${setting} is not that of ${other?.name}, and both are of the rateGroup ${group}: give all of a group one rate`;
    return [{ setting, problem, ...(source !== undefined && { source }) }];
  });
}

/** Says that no account has that name, and which one may have been meant. */
export function unknownAccount(name: string, accounts: readonly { readonly name: string }[]): string {
  const names = accounts.map((account) => account.name);
  const meant = suggestion(name, names);
  const some = `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`;
  const advice = meant === undefined ? `the settings have ${some}` : `did you mean ${meant}?`;
  return `the account ${JSON.stringify(name)} is not in the settings; ${advice}`;
}
