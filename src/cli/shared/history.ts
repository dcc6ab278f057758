/** One change of an order or a link, as the database has it. */
interface Change {
  readonly observed_at: string;
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly source: string;
  readonly reason: string | null;
}

/** The columns of a table of changes. */
export function historyLine(event: Change) {
  return {
    at: event.observed_at,
    field: event.field,
    from: event.old_value,
    to: event.new_value,
    source: event.source,
    reason: event.reason,
  };
}
