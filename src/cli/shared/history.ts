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

/** The lines of a table of changes. */
export function historyLines(events: readonly Change[]): Record<string, string | null>[] {
  return events.map((event) =>
    Object.fromEntries(Object.entries(COLUMNS).map(([name, column]) => [name, event[column]])),
  );
}
