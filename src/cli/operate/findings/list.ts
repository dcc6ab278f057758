import { Option, type Command } from 'commander';
import type { FindingStatus } from '../../../domain/findings/lifecycle.ts';
import { ORDER_STATES, type OrderState } from '../../../domain/orders/states.ts';
import { listFindings } from '../../../store/listed-findings.ts';
import { addOrderOptions, type OrderOptions } from '../../shared/filters.ts';
import { accountColumn, addListOptions, printList, sayCut, type ListOptions } from '../../shared/list.ts';
import type { AccountOptions } from '../../shared/account.ts';
import { addPeriodOptions, type PeriodOptions } from '../../shared/period.ts';
import { withAccounts } from '../../shared/store.ts';
import { addFilter, FINDING_COLUMNS, type FindingsFilter } from './filter.ts';

const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly FindingStatus[];

interface FindingListOptions extends AccountOptions, FindingsFilter, OrderOptions, PeriodOptions, ListOptions {
  readonly status: FindingStatus | 'any';
  readonly state?: OrderState;
}

/** `order-sync findings list`. */
export function define(command: Command): void {
  command.description('lists findings, the worst first, of one severity the newest');
  addOrderOptions(addFilter(command))
    .addOption(new Option('--state <state>', 'only of orders in this state').choices(ORDER_STATES))
    .addOption(
      new Option('--status <status>', 'only findings of this status').choices([...STATUSES, 'any']).default('open'),
    );
  addListOptions(addPeriodOptions(command, 'findings first seen'))
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync findings list --severity error\n  order-sync findings list --pair BTC/EUR --from 2026-01-31',
    )
    .action(async (options: FindingListOptions) => {
      const { limit, json: _json, account: _account, status: wanted, ...filter } = options;
      const status = wanted === 'any' ? undefined : wanted;
      const { rows, isCut, ignore } = await withAccounts(command, async ({ db }, account, { reconcile }) => ({
        ...(await listFindings(db, { ...filter, account, status, limit: limit + 1 })),
        ignore: reconcile.ignore,
      }));
      const isNarrowed = Object.keys(filter).length > 0;
      printList(
        rows,
        options,
        [...accountColumn(command), ...FINDING_COLUMNS],
        isNarrowed ? 'no such finding' : emptyText(wanted),
      );
      if (ignore.length > 0) process.stderr.write(`not found, as reconcile.ignore says: ${ignore.join(', ')}\n`);
      if (isCut) sayCut('--order and --class look at others');
    });
}

function emptyText(status: string): string {
  return status === 'any' ? 'there is no finding' : `no finding is ${status}`;
}
