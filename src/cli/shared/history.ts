import type { Column } from '../../reports/formats/document.ts';
import { fieldsText, tableOf } from '../../reports/formats/terminal/layout.ts';
import { screenOf } from './screen.ts';

/** The columns of a change of an order or a link, as a table of its history shows them. */
const COLUMNS = [
  { key: 'observed_at', label: 'at', kind: 'time' },
  { key: 'field', label: 'field', kind: 'text' },
  { key: 'old_value', label: 'from', kind: 'text', rank: 1 },
  { key: 'new_value', label: 'to', kind: 'text' },
  { key: 'source', label: 'source', kind: 'text', rank: 3 },
  { key: 'reason', label: 'reason', kind: 'text', rank: 2 },
] as const satisfies readonly Column[];
type Change = Readonly<Record<(typeof COLUMNS)[number]['key'], string | null>>;

/** A row of the database and its history, as fields and a table. Fields without a value are left out. */
export function rowWithHistory(row: object, events: readonly Change[]): string {
  const screen = screenOf();
  const fields = Object.entries(row as Record<string, string | number | null>)
    .filter(([, value]) => value !== null)
    .map(
      ([label, value]) => ({ label, value, kind: label === 'state' || label === 'outcome' ? label : 'text' }) as const,
    );
  const history = events.length === 0 ? 'history: nothing has happened yet\n' : tableOf(COLUMNS, events, screen);
  return `${fieldsText(fields, screen)}\n${history}`;
}
