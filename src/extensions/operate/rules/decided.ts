import { FINDING_CLASSES, type FindingClassName } from '../../../findings/rules/classes.ts';

/** Classes of findings that doubt that the order at the exchange is ours. */
const OF_OWNER: readonly string[] = ['ID_COLLISION', 'IDENTITY_MISMATCH', 'MERCHANT_MISMATCH'];
/** Classes of findings that stay true even if the order is ours. Only the decision `abandoned` settles them. */
export const OF_RECORD: readonly string[] = [
  'AMOUNT_MISMATCH',
  'PAIR_MISMATCH',
  'TYPE_MISMATCH',
  'ADDRESS_CHANGED',
  'ORDER_REPLACED',
  'ORDER_REUSED',
  'TX_HASH_CHANGED',
  'TERMINAL_REOPENED',
  'SILENT_CHANGE',
  'TERMS_CHANGED',
] satisfies FindingClassName[];
/** Classes whose findings a person may settle by a decision about the order. */
export const DECIDABLE = Object.keys(FINDING_CLASSES).filter((name) => statesToDecide(name).length > 0);

/** Returns the states of an order from which a person's decision settles a finding of the class. */
export function statesToDecide(name: string): readonly string[] {
  if (name === 'CREATE_UNKNOWN') return ['unknown', 'held'];
  return OF_OWNER.includes(name) || OF_RECORD.includes(name) ? ['disputed'] : [];
}

/** A change of a field of an order. `source` is `operator` if a person made the change. Times are UTC, ISO 8601. */
interface Move {
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly observed_at: string;
  readonly source: string | null;
}

/** Returns true if a person's decision since `first_seen_at` settles the finding. The oldest event must come first. */
export function isDecided(
  { class: name, first_seen_at }: { readonly class: string; readonly first_seen_at: string },
  events: readonly Move[],
): boolean {
  const states = statesToDecide(name);
  const isIn = (state: string | null) => states.includes(state ?? '');
  const last = events.findLast(
    ({ field, old_value: from, new_value: to }) => field === 'state' && (isIn(from) || isIn(to)),
  );
  if (last?.source !== 'operator' || isIn(last.new_value) || first_seen_at > last.observed_at) return false;
  return last.new_value === 'abandoned' || !OF_RECORD.includes(name);
}
