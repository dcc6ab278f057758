import type { FastifyRequest } from 'fastify';
import { accountWords } from '../../../../accounts/rules/name.ts';
import { messageOf, shellWord, storable } from '../../../../base/text.ts';
import { Refused } from '../actions.ts';

export type Query = Readonly<Record<string, string>>;

export interface Field<Value = unknown> {
  readonly name: string;
  readonly label: string;
  readonly option?: string;
  readonly choices?: Readonly<Record<string, string>>;
  readonly example?: string;
  readonly read: (text: string) => Value;
}

export function choiceOf<Value extends string>(
  name: string,
  label: string,
  values: readonly Value[],
  words: Readonly<Record<string, string>> = { '': 'any', ...Object.fromEntries(values.map((value) => [value, value])) },
): Field<Value> {
  const read = (text: string) => {
    const value = values.find((one) => one === text);
    if (value === undefined) throw new Error(`Choose one of ${values.join(', ')}.`);
    return value;
  };
  return { name, label, choices: words, read };
}

export function queryOf({ query }: FastifyRequest): Query {
  const texts = Object.entries(query as Record<string, unknown>).map(([name, value]) => {
    // The id in a cursor may end with a blank, so `after` is not trimmed.
    const text = typeof value === 'string' ? (name === 'after' ? value : value.trim()) : '';
    return [name, storable(text)] as const;
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

export function valueIn<Value>(query: Query, { name, label, read }: Field<Value>): Value | undefined {
  const text = query[name];
  try {
    return text === undefined ? undefined : read(text);
  } catch (error) {
    throw new Refused(400, `${label}: "${text}" cannot be read.`, messageOf(error));
  }
}

export function commandOf(command: string, query: Query, fields: readonly Field[], account: string | undefined) {
  const options = fields.map(({ name, option = name }) => {
    const text = query[name];
    return text === undefined ? '' : ` --${option} ${shellWord(text)}`;
  });
  return `order-sync ${command}${options.join('')}${account === undefined ? ' --account all' : accountWords(account)}`;
}

export function accountIn({ account: asked }: Query, accounts: readonly string[]): string | undefined {
  if (asked === undefined || (asked === 'all' && !accounts.includes(asked))) {
    return accounts.length === 1 ? accounts[0] : undefined;
  }
  if (!accounts.includes(asked)) throw new Refused(404, 'The settings do not have this account.');
  return asked;
}

export function oneAccountIn(query: Query, accounts: readonly string[]): string {
  const account = accountIn(query, accounts);
  if (account === undefined) throw new Refused(404, 'Choose an account.');
  return account;
}
