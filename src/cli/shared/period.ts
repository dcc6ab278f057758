import { InvalidArgumentError, Option, type Command } from 'commander';
import { readTime } from '../../domain/instant.ts';

/** The time at or after `from` and before `to`: UTC, ISO 8601 with milliseconds. */
export interface PeriodOptions {
  readonly from?: string;
  readonly to?: string;
}

/** Adds `--from` and `--to`; refuses a period that ends before it begins. */
export function addPeriodOptions(command: Command, what = 'orders inserted'): Command {
  return command
    .option('--from <time>', `only ${what} at or after it (UTC, ISO 8601)`, utcTime)
    .option('--to <time>', `only ${what} before it`, utcTime)
    .hook('preAction', () => {
      const { from, to } = command.opts<PeriodOptions>();
      if (from !== undefined && to !== undefined && from >= to) command.error('error: --from must be before --to');
    });
}

/** Adds `--by`: the time of an order that the period is about. */
export function addByOption(command: Command): Command {
  return command.addOption(
    new Option('--by <time>', 'the time of an order that --from and --to are about')
      .choices(['insertion', 'completion'])
      .default('insertion'),
  );
}

/** Adds `--as-of`, the moment for which a report speaks in place of now. */
export function addAsOfOption(command: Command): Command {
  return command.option(
    '--as-of <time>',
    'the moment that the report speaks for, in place of now (UTC, ISO 8601)',
    utcTime,
  );
}

/** Reads a day, which begins at midnight, or a time of a day; in UTC, whatever the machine's time zone is. Throws `InvalidArgumentError`. */
export function utcTime(text: string): string {
  const [, day, clock = 'T00:00'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/.exec(text) ?? [];
  const time = readTime(`${day}${clock}Z`);
  if (time === null) throw new InvalidArgumentError('Give a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return time.toISOString();
}
