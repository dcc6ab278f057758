import { accountColumns } from '../formats/sections.ts';
import type { Column, Row, Section } from '../formats/document.ts';
import { PAIR_COLUMNS, type ReconciliationTotals } from './totals.ts';

const COUNTS = [
  'orders',
  'at_exchange',
  'checked',
  'unchecked',
  'disputed',
  'nothing_to_compare',
  'errors',
  'warnings',
  'infos',
  'acknowledged',
] as const;
const ACCOUNT = accountColumns(undefined);
const COLUMNS: readonly Column[] = [
  ...ACCOUNT,
  ...COUNTS.map((key) => {
    const column: Column | undefined = PAIR_COLUMNS.find((one) => one.key === key);
    return column ?? { key, label: key, kind: 'count' as const };
  }),
];

export interface AccountRows {
  readonly counts: Row;
  readonly pairs: readonly Row[];
}

export function accountRows(account: string, totals: ReconciliationTotals): AccountRows {
  const all = totals.counts();
  const counts = { account, ...Object.fromEntries(COUNTS.map((key) => [key, all[key]])) };
  return { counts, pairs: totals.byPair().map((row) => ({ account, ...row })) };
}

export function accountSections(
  counts: Iterable<Row> | undefined,
  pairs: Iterable<Row> | undefined,
): readonly Section[] {
  if (counts === undefined || pairs === undefined) return [];
  return [
    { name: 'accounts', title: 'By account', empty: 'There is no account.', columns: COLUMNS, rows: counts },
    {
      name: 'account_pairs',
      title: 'By account, pair and outcome',
      columns: [...ACCOUNT, ...PAIR_COLUMNS],
      rows: pairs,
      isForPrograms: true,
    },
  ];
}
