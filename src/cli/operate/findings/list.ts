import { Option, type Command } from 'commander';
import type { FindingStatus } from '../../../domain/findings/lifecycle.ts';
import { listFindings } from '../../../store/findings.ts';
import { addListOptions, printList, type ListOptions } from '../../shared/list.ts';
import { ACCOUNT } from '../../shared/options.ts';
import { withStore } from '../../shared/store.ts';
import { addFilter, FINDING_COLUMNS, type FindingsFilter } from './filter.ts';

const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly FindingStatus[];

/** `order-sync findings list`. */
export function define(command: Command): void {
  addFilter(command).addOption(
    new Option('--status <status>', 'only findings of this status').choices([...STATUSES, 'any']).default('open'),
  );
  addListOptions(command)
    .addHelpText('after', '\nExample:\n  order-sync findings list --severity error')
    .action(async (options: FindingsFilter & ListOptions & { readonly status: FindingStatus | 'any' }) => {
      const { class: name, severity, limit } = options;
      const status = options.status === 'any' ? undefined : options.status;
      const query = { account: ACCOUNT, class: name, severity, status, limit: limit + 1 };
      const found = await withStore(command, 'current', (store) => listFindings(store.db, query));
      printList(found, options, FINDING_COLUMNS, emptyText(options));
    });
}

function emptyText({ status, class: name, severity }: FindingsFilter & { readonly status: string }): string {
  const isFiltered = name !== undefined || severity !== undefined;
  if (isFiltered) return status === 'any' ? 'there is no such finding' : `there is no such finding that is ${status}`;
  return status === 'any' ? 'there is no finding' : `no finding is ${status}`;
}
