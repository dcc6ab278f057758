import { text } from 'node:stream/consumers';
import { resolve } from 'node:path';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../../accounts/rules/name.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { databaseUrl, withoutPassword } from '../../settings/database-url.ts';
import { headerText, reader, secureUrl } from '../../settings/values.ts';
import type { Dialogue } from '../operate/decision-options.ts';

export const DATABASE = 'data/order-sync.db';
/** The address and the key of `order-sync sandbox --port 8089`. */
export const SANDBOX = { url: 'http://127.0.0.1:8089', key: 'sandbox-key' };
const HIDDEN = { isHidden: true };

/** What a person or the options say about the settings to make. */
export interface Answers {
  readonly baseUrl: string;
  readonly isSandbox: boolean;
  /** Empty if there is one account, `default`. */
  readonly accounts: readonly string[];
  /** The keys in the order of the accounts, to write into files; none if their files are there. */
  readonly keys: readonly string[];
  readonly database: { readonly url: string; readonly password?: string | undefined };
}

/** Asks a person, or throws if there is none. */
export type Ask = Dialogue['ask'];

/** What the options say. An answer that is missing is asked for. */
export type Known = { readonly [Name in keyof Omit<Answers, 'isSandbox'>]: Answers[Name] | undefined } & {
  readonly sandbox: string | undefined;
};

/** Asks a person for each answer that is not known. */
export async function interview(ask: Ask, known: Known): Promise<Answers> {
  const question = 'Address of the exchange (Enter if you have none yet, for the sandbox): ';
  const given = known.sandbox ?? known.baseUrl ?? (await ask(question, orEmpty(reader(secureUrl))));
  const isSandbox = known.sandbox !== undefined || given === '';
  const keys = known.keys ?? (isSandbox ? [SANDBOX.key] : undefined);
  const accounts = known.accounts ?? (keys === undefined ? await askAccounts(ask) : []);
  return {
    baseUrl: given || SANDBOX.url,
    isSandbox,
    accounts,
    keys: keys ?? (await askKeys(ask, accounts)),
    database: known.database ?? (await askDatabase(ask)),
  };
}

async function askAccounts(ask: Ask): Promise<readonly string[]> {
  const question = 'Names of your accounts at the exchange, such as shop-1,shop-2 (Enter if you have one): ';
  return namesIn(
    await ask(
      question,
      orEmpty((given) => namesIn(given).map(accountName).join()),
    ),
  );
}

async function askKeys(ask: Ask, accounts: readonly string[]): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const name of accounts.length === 0 ? ['the merchant'] : accounts)
    keys.push(await ask(`Key of ${name} (not shown): `, reader(headerText), HIDDEN));
  return keys;
}

async function askDatabase(ask: Ask): Promise<Answers['database']> {
  const usual = databaseOf(DATABASE).url.replace('sqlite:', '');
  const question = `Database: a file, or postgres://USER@HOST/DATABASE [${usual}]: `;
  const given = await ask(question, (answer) => (databaseOf(answer || usual), answer || usual));
  const database = databaseOf(given);
  if (database.url.startsWith('sqlite:') || database.password !== undefined) return database;
  const password = await ask('Password of its user (not shown; Enter for none): ', (answer) => answer, HIDDEN);
  return { ...database, password: password || undefined };
}

function orEmpty(read: (answer: string) => string): (answer: string) => string {
  return (answer) => (answer === '' ? '' : read(answer));
}

function namesIn(answer: string): readonly string[] {
  return [...new Set(answer.split(/[\s,]+/).filter((name) => name !== ''))];
}

export function accountName(given: string): string {
  if (ACCOUNT_NAME.test(given)) return given;
  throw new Error(`must be ${ACCOUNT_NAME_FORM}`);
}

/** A file of SQLite by its whole path, or the address of a database of PostgreSQL, with its password apart. */
export function databaseOf(given: string): Answers['database'] {
  const place = reader(databaseUrl)(/^(sqlite|postgres|postgresql):/.test(given) ? given : `sqlite:${given}`);
  return place.kind === 'sqlite'
    ? { url: `sqlite:${resolve(place.file)}` }
    : { url: withoutPassword(given), password: place.password };
}

export async function pipedKey(): Promise<string> {
  const { data, error } = headerText.safeParse(await text(process.stdin));
  if (data !== undefined) return data;
  throw new CommandError(EXIT.usage, `the key on standard input ${error?.issues[0]?.message}`);
}
