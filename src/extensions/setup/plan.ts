import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../../accounts/rules/name.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { type ConfigOptions } from '../../settings/config.ts';
import { withoutPassword } from '../../settings/database.ts';
import { ownFile } from '../../settings/layers.ts';
import { readValueFile } from '../../settings/settings-file.ts';
import { headerText, reader, secureUrl } from '../../settings/values.ts';
import { databaseUrl } from '../postgres/place/url.ts';
import type { Dialogue } from '../operate/decision-options.ts';
import { configSources } from './sources.ts';

export const DATABASE = 'data/order-sync.db';
export const SANDBOX = { url: 'http://127.0.0.1:8089', key: 'sandbox-key' };
/** The statuses of the sandbox. `init` does not know the statuses of a real exchange. */
const STATUSES = {
  openStatuses: ['REQUEST', 'IN_PROGRESS'],
  finalStatuses: ['COMPLETED', 'REJECTED'],
  succeededStatuses: ['COMPLETED'],
};
const ADDRESS = 'Address of the exchange (Enter if you have none yet, for the sandbox): ';
const ACCOUNTS = 'Accounts at the exchange, such as shop-1,shop-2 (Enter if you have one): ';
const PLACE = `Database: a file, or postgres://USER:PASSWORD@HOST/DATABASE [${DATABASE}]: `;
/** Settings that `init` writes. A variable of the environment for one of these would override the file. */
const WRITTEN = ['exchange.baseUrl', 'exchange.apiKey', 'database.url'];

export interface InitOptions {
  readonly baseUrl?: string;
  readonly sandbox?: string;
  readonly apiKeyFile?: string;
  readonly database?: string;
  readonly intoExisting?: boolean;
  readonly yes?: boolean;
}

export type Plan = Awaited<ReturnType<typeof planOf>>;

type Ask = Dialogue['ask'];

/** Plans the files, and asks for values that the options lack. Makes nothing. */
export async function planOf(places: ConfigOptions, options: InitOptions, ask: Ask = noTerminal) {
  const settingsFile = ownFile(places);
  if (settingsFile === null) throw new CommandError(EXIT.usage, 'give --config with the file to make');
  if (existsSync(settingsFile)) throw existing(settingsFile, 'edit it, or give --config with another file');
  checkVariables(places);
  const { sandbox, apiKeyFile } = options;
  const readUrl = reader(secureUrl);
  const baseUrl = sandbox ?? options.baseUrl ?? (await ask(ADDRESS, (given) => readUrl(given || SANDBOX.url)));
  const isSandbox = baseUrl === (sandbox ?? SANDBOX.url);
  const keyFile = apiKeyFile === undefined || apiKeyFile === '-' ? undefined : resolve(places.cwd, apiKeyFile);
  if (keyFile !== undefined) readValueFile(keyFile, 'exchange.apiKey');
  const isOne = isSandbox || apiKeyFile !== undefined;
  const names = isOne ? [] : namesIn(await ask(ACCOUNTS, (given) => namesIn(given).join()));
  /** The content of each secret's file, by path. */
  const secrets = new Map<string, string>();
  const addSecret = async (ending: string, read: () => Promise<string>) => {
    const file = settingsFile.slice(0, settingsFile.length - extname(settingsFile).length) + ending;
    if (existsSync(file)) throw existing(file, 'use it with --api-key-file, or move it away');
    secrets.set(file, await read());
    return file;
  };
  const readKey = async (question: string) => {
    if (apiKeyFile === '-') return await pipedKey();
    return isSandbox ? SANDBOX.key : await ask(question, reader(headerText), { isHidden: true });
  };
  const exchangeOf = async (name = '', ending = '.key') => ({
    apiKeyFile: keyFile ?? (await addSecret(ending, () => readKey(`Key of ${name || 'the merchant'} (not shown): `))),
  });
  const accounts: Record<string, object> = {};
  for (const name of names) accounts[name] = { exchange: await exchangeOf(name, `-${name}.key`) };
  const exchange = { baseUrl, ...(names.length === 0 && (await exchangeOf())) };
  const place = options.database ?? (await ask(PLACE, (given) => placeText(given || DATABASE)));
  const parts = reader(databaseUrl)(place);
  const password = parts.kind === 'postgres' ? parts.password : undefined;
  const database = {
    url: withoutPassword(place),
    ...(password !== undefined && { passwordFile: await addSecret('.password', async () => password) }),
    ...(parts.kind === 'postgres' && { marks: resolve('data/order-sync-marks.db') }),
  };
  const follow = isSandbox && { follow: STATUSES };
  const settings = { exchange, database, ...follow, ...(names.length > 0 && { accounts }) };
  const isDatabaseThere = parts.kind === 'postgres' || existsSync(parts.file);
  const intoExisting = options.intoExisting === true;
  return { settingsFile, settings, secrets, isSandbox, place, isDatabaseThere, intoExisting };
}

const noTerminal: Ask = async () => {
  const message = 'init can ask no questions: give --base-url and --api-key-file, or --sandbox';
  throw new CommandError(EXIT.usage, message);
};

function existing(path: string, advice: string): CommandError {
  return new CommandError(EXIT.config, `${path} is there already and is not replaced: ${advice}; nothing was made`);
}

function checkVariables(places: ConfigOptions): void {
  const [over] = configSources({ ...places, file: null }).filter(
    ({ setting, source }) => WRITTEN.includes(setting) && source !== 'default',
  );
  if (over === undefined) return;
  const message = `${over.source} is set in the environment and would override the file: unset it first; nothing was made`;
  throw new CommandError(EXIT.config, message);
}

function namesIn(answer: string): readonly string[] {
  const names = [...new Set(answer.split(/[\s,]+/).filter(Boolean))];
  if (names.every((name) => ACCOUNT_NAME.test(name))) return names;
  throw new Error(`must be a list of names, each ${ACCOUNT_NAME_FORM}`);
}

export function placeText(given: string): string {
  const url = /^(sqlite|postgres|postgresql):/.test(given) ? given : `sqlite:${given}`;
  const place = reader(databaseUrl)(url);
  return place.kind === 'sqlite' ? `sqlite:${resolve(place.file)}` : url;
}

async function pipedKey(): Promise<string> {
  const { data, error } = headerText.safeParse(await text(process.stdin));
  if (data !== undefined) return data;
  throw new CommandError(EXIT.usage, `the key on standard input ${error?.issues[0]?.message}`);
}
