import { InvalidArgumentError, type Command } from 'commander';
import type { IdFilter } from '../../store/find-orders.ts';
import type { Pair } from '../../store/listed-orders.ts';

/** The orders that a list is about. */
export interface OrderOptions {
  readonly order?: IdFilter;
  readonly pair?: Pair;
}

/** Adds `--order` and `--pair`. */
export function addOrderOptions(command: Command): Command {
  return command
    .option('--order <id>', "only of this order; 'shop-10*' stands for all ids that begin so", readIdFilter)
    .option('--pair <pair>', 'only of this pair, such as BTC/EUR', readPair);
}

/** Reads a pair of currencies. Throws `InvalidArgumentError`. */
export function readPair(text: string): Pair {
  const [, from, to] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) throw new InvalidArgumentError('Give a pair such as BTC/EUR.');
  return { from, to };
}

function readIdFilter(text: string): IdFilter {
  const isPrefix = text.endsWith('*');
  return { id: isPrefix ? text.slice(0, -1) : text, isPrefix };
}
