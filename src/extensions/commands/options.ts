import { InvalidArgumentError, Option, type Command } from 'commander';
import { readTime } from '../../base/instant.ts';
import { HIDDEN } from '../../base/text.ts';
import { wholeNumber } from '../../cli/shared/options.ts';

export const rowId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function rowIds(given: string, before: readonly number[] = []): readonly number[] {
  return [...before, rowId(given)];
}

export type Pair = { readonly from: string; readonly to: string };

export type OrderOptions = { readonly order?: IdFilter; readonly pair?: Pair };

export function addOrderOptions(command: Command): Command {
  return command
    .option('--order <id>', "only this order; 'shop-10*' means all ids that begin with shop-10", (text): IdFilter => {
      return text.endsWith('*') ? { id: text.slice(0, -1), isPrefix: true } : { id: text, isPrefix: false };
    })
    .option('--pair <pair>', 'only of this pair, such as BTC/EUR', readPair);
}

export function readPair(text: string): Pair {
  const [, from, to] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) throw new InvalidArgumentError('Use a pair such as BTC/EUR.');
  return { from, to };
}

/** A period from `from` until just before `to`, both UTC in ISO 8601 with milliseconds. */
export type PeriodOptions = { readonly from?: string; readonly to?: string };

export function addPeriodOptions(command: Command, what = 'orders inserted'): Command {
  return command
    .option('--from <time>', `only ${what} at or after this time (UTC, ISO 8601)`, utcTime)
    .option('--to <time>', `only ${what} before this time`, utcTime)
    .hook('preAction', () => {
      const { from, to } = command.opts<PeriodOptions>();
      if (from !== undefined && to !== undefined && from >= to) command.error('error: --from must be before --to');
    });
}

export function addByOption(command: Command): Command {
  return command.addOption(
    new Option('--by <time>', 'the time of an order that --from and --to are about')
      .choices(['insertion', 'completion'])
      .default('insertion'),
  );
}

export function addAsOfOption(command: Command): Command {
  const text = 'the time that the report describes, in place of now (UTC, ISO 8601)';
  return command.option('--as-of <time>', text, utcTime);
}

/** Reads a time in UTC. A day without a time means midnight. Throws `InvalidArgumentError`. */
export function utcTime(text: string): string {
  const [, day, clock = 'T00:00'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/.exec(text) ?? [];
  const time = readTime(`${day}${clock}Z`);
  if (time === null) throw new InvalidArgumentError('Use a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return time.toISOString();
}

export const REVEAL = ['--reveal', 'show tokens and payment links as they are'] as const;

export function withoutToken<Row extends { payment_token: string | null }>(row: Row): Row {
  return row.payment_token === null ? row : { ...row, payment_token: HIDDEN };
}

export type IdFilter = Readonly<{ id: string; isPrefix: boolean }>;

/** Returns the arguments of `addHelpText`. `commands` are written without the name of the program. */
export function examples(...commands: readonly string[]): readonly ['after', string] {
  const lines = commands.map((command) => `\n  order-sync ${command}`);
  return ['after', `\nExample${commands.length > 1 ? 's' : ''}:${lines.join('')}`];
}
