import { asTable } from '../../reports/formats/text.ts';

/** The columns of a change of an order or a link, as a table of its history shows them. */
const COLUMNS = {
  at: 'observed_at',
  field: 'field',
  from: 'old_value',
  to: 'new_value',
  source: 'source',
  reason: 'reason',
} as const;
type Change = Readonly<Record<(typeof COLUMNS)[keyof typeof COLUMNS], string | null>>;

/** A row of the database and its history, as two tables. Columns without a value are left out. */
export function rowWithHistory(row: object, events: readonly Change[]): string {
  const fields = Object.entries(row as Record<string, string | number | null>).filter(([, value]) => value !== null);
  const lines = events.map((event) =>
    Object.fromEntries(Object.entries(COLUMNS).map(([name, column]) => [name, event[column]])),
  );
  const history = lines.length === 0 ? 'history: nothing has happened yet\n' : asTable(lines);
  return asTable(fields.map(([field, value]) => ({ field, value }))) + history;
}
