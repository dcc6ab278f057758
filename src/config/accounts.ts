import { DEFAULT_ACCOUNT } from '../domain/accounts/name.ts';
import { suggestion } from '../domain/suggestion.ts';
import type { AccountEntries, FileSettings } from './settings-file.ts';
import { rateGroup, SETTINGS, type AccountPath, type AccountSection, type ConfigProblem } from './settings.ts';

type Sections = Readonly<Record<AccountSection, object>>;

/** The settings of one account, each complete: its own, the general ones where it has none, the defaults. */
export type AccountOf<General extends Sections> = Pick<General, AccountSection> & {
  readonly name: string;
  /** Accounts of one group share the limits of their rate; undefined for one with its own. */
  readonly rateGroup: string | undefined;
};

/** A message names so many accounts. */
const MOST_NAMES = 5;

type Section = Readonly<Record<string, unknown>>;
/** The values that an account has of its own. What is equal in two accounts is the same object. */
export type AccountValues = ReadonlyMap<string, Map<string, unknown>>;

/** Reads the values that accounts have of their own, and adds what is wrong with them to `problems`. */
export function readAccounts(accounts: FileSettings['accounts'], problems: ConfigProblem[]): AccountValues {
  const known = new Map<string, unknown>();
  const read = (path: AccountPath | 'rateGroup', text: string | readonly string[]) => {
    const key = JSON.stringify([path, text]);
    if (!known.has(key)) known.set(key, path === 'rateGroup' ? rateGroup(text) : SETTINGS[path](text));
    return known.get(key);
  };
  const valuesOf = (name: string, entries: AccountEntries) => {
    const values = new Map<string, unknown>();
    for (const [path, { text, source, file }] of entries) {
      try {
        if (file !== undefined) values.set(`${path}File`, file);
        else values.set(path, read(path, text));
      } catch (error) {
        const setting = `accounts.${name}.${path}`;
        problems.push({ setting, source, problem: `${setting} ${(error as Error).message}` });
      }
    }
    return values;
  };
  return new Map([...accounts].map(([name, entries]) => [name, valuesOf(name, entries)]));
}

/** Lays the values of accounts over the general settings. Accounts with equal settings share them. */
export function accountsOf<General extends Sections>(accounts: AccountValues, general: General): AccountOf<General>[] {
  if (accounts.size === 0) return [{ ...sectionsOf(general), name: DEFAULT_ACCOUNT, rateGroup: undefined }];
  const shared = new Map<string, object>();
  return [...accounts].map(([name, values]) => {
    const own = Object.entries(sectionsOf(general)).map(([section, usual]) => {
      const entries = [...values].filter(([path]) => path.startsWith(`${section}.`));
      if (entries.length === 0) return [section, usual];
      const key = JSON.stringify([section, entries]);
      if (!shared.has(key)) shared.set(key, entries.reduce(withValue, usual as Section));
      return [section, shared.get(key)];
    });
    const sections = Object.fromEntries(own) as Pick<General, AccountSection>;
    return { ...sections, name, rateGroup: values.get('rateGroup') as string | undefined };
  });
}

function sectionsOf<General extends Sections>({
  exchange,
  create,
  guard,
  follow,
}: General): Pick<General, AccountSection> {
  return { exchange, create, guard, follow };
}

/** A section with one value in it replaced. A key replaces the file of another one, and a file another key. */
function withValue(section: Section, [path, value]: readonly [string, unknown]): Section {
  if (path === 'exchange.apiKey' || path === 'exchange.apiKeyFile') {
    const others = Object.entries(section).filter(([name]) => name !== 'apiKey' && name !== 'apiKeyFile');
    return { ...Object.fromEntries(others), [path.slice('exchange.'.length)]: value };
  }
  const [, name = '', inner] = path.split('.');
  return { ...section, [name]: inner === undefined ? value : { ...(section[name] as Section), [inner]: value } };
}

interface Rated {
  readonly name: string;
  readonly rateGroup: string | undefined;
  readonly exchange: { readonly rate: Readonly<Record<'requests' | 'interval' | 'mode', number | string>> };
}

/** Accounts that share one limit and say differently how large it is, or how it is kept. */
export function rateGroupProblems(accounts: readonly Rated[], entries: FileSettings['accounts']): ConfigProblem[] {
  const first = new Map<string, Rated>();
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
