import type { FastifyRequest } from 'fastify';
import { messageOf, storable } from '../../../../base/text.ts';
import { Refused } from '../actions.ts';

/** The texts of an address: each narrows down what its page shows. */
export type Query = Readonly<Record<string, string>>;

/** Reads the texts that are not empty. */
export function queryOf({ query }: FastifyRequest): Query {
  const texts = Object.entries(query as Record<string, unknown>).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? storable(value.trim()) : '';
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(texts);
}

export function pathOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const texts = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${path}?${new URLSearchParams(texts).toString()}`;
}

/** The account that is asked for, undefined for all. One alone is meant anyway. */
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

export function choiceIn<Value extends string>(
  query: Query,
  name: string,
  values: readonly Value[],
): Value | undefined {
  return readIn(query, name, (text) => {
    const value = values.find((one) => one === text);
    if (value === undefined) throw new Error(`Choose one of ${values.join(', ')}.`);
    return value;
  });
}

/** Reads a text of the address by a function that throws, in a sentence, if it cannot be read. */
export function readIn<Value>(query: Query, name: string, read: (text: string) => Value): Value | undefined {
  const text = query[name];
  try {
    return text === undefined ? undefined : read(text);
  } catch (error) {
    const advice = error instanceof SyntaxError ? 'Go to the first page.' : messageOf(error);
    throw new Refused(400, `The filter "${name}" cannot be read.`, advice);
  }
}
