import type { Column, ReportDocument } from '../documents/document.ts';
import { accountColumns, accountFact, emptyVerdict, type ReportScope } from '../documents/sections.ts';
import type { Change } from './tables/changes.ts';

const COLUMNS: readonly Column[] = [
  { key: 'id', label: 'No.', kind: 'count', rank: 2 },
  { key: 'observed_at', label: 'At', kind: 'time' },
  { key: 'external_order_id', label: 'Order', kind: 'text', isId: true },
  { key: 'field', label: 'Field', kind: 'text' },
  { key: 'old_value', label: 'From', kind: 'text', rank: 1 },
  { key: 'new_value', label: 'To', kind: 'text' },
  // Any text that the exchange wrote.
  { key: 'exchange_time', label: 'Date of the exchange', kind: 'text', rank: 3 },
  { key: 'source', label: 'Source', kind: 'text', rank: 3 },
  { key: 'actor', label: 'Who', kind: 'text', rank: 2 },
  { key: 'reason', label: 'Why', kind: 'text', rank: 2 },
];

type Changes = AsyncIterable<Change>;

export function changesDocument(scope: ReportScope, isEmpty: boolean, changes: Changes): ReportDocument {
  const { account, from = null, to = null, mayBeEmpty } = scope;
  const columns = [...accountColumns(account), ...COLUMNS];
  return {
    schema: 'order-sync.changes/1',
    title: 'Changes of orders',
    ...(isEmpty && { verdict: emptyVerdict('change', 'Nothing has changed', mayBeEmpty) }),
    facts: [
      accountFact(account),
      { key: 'from', label: 'Observed from', value: from },
      { key: 'to', label: 'Observed before', value: to },
    ],
    sections: [{ name: 'changes', title: 'Changes', empty: 'Nothing has changed.', columns, rows: changes }],
    charts: [],
  };
}
