import { sameDecimal } from '../../base/decimal.ts';
import type { OrderEvent } from './tracking.ts';
import { RECORD_NUMBERS, RECORD_PATHS, type RecordFields, type RecordPath } from './record.ts';

type FieldChange = Pick<OrderEvent, 'oldValue' | 'newValue'> & { readonly field: `record.${string}` };

/** Facts that show whether the exchange goes back and forth between two records of an order. */
export type Turns = Readonly<typeof NO_TURNS>;

export const NO_TURNS = {
  earlierHash: null as string | null,
  /** How often the exchange went from one of the two records to the other. */
  turns: 0,
  /** How many answers in a row had the earlier record, which was not taken. */
  repeats: 0,
  /** How many changes in a row had an event but concerned only `QUIET` or undocumented fields. */
  quietChanges: 0,
};

export interface RecordComparison {
  readonly newest: RecordFields;
  readonly received: RecordFields;
  readonly newestHash: string;
  readonly receivedHash: string;
  readonly turns: Turns;
}

export interface RecordChange {
  /** The changes to record, without the three statuses, which `decideLookup` records. */
  readonly fields: readonly FieldChange[];
  /** True if the record is not taken, because the exchange has gone back and forth too often. */
  readonly isContrary: boolean;
  readonly turns: Turns;
}

/** From this turn on, our record stays until the earlier record comes several times in a row. */
const FIRST_CONTRARY_TURN = 3;
/** The earlier record is taken when it comes as often in a row as there were turns, or this often. */
const MOST_REPEATS = 20;
/** The most changes in a row that get events although they concern only `QUIET` or undocumented fields. */
const MOST_QUIET_CHANGES = 10;

const DATE: RecordPath = 'order.modificationDate';
const HIDDEN: readonly RecordPath[] = [
  'order.fiatTransaction.internalToken',
  'order.fiatTransaction.link',
  'order.fiatTransaction.paymentToken',
];
const STATUSES: readonly RecordPath[] = [
  'order.status',
  'order.cryptoTransaction.status',
  'order.fiatTransaction.status',
];
/** Fields that an exchange may write anew for each answer: secrets, links that expire, the date. */
const QUIET: readonly RecordPath[] = [...HIDDEN, DATE];
const COMPARED = RECORD_PATHS.filter((path) => path !== 'order.serverDate');
const SHOWN = COMPARED.filter((path) => !HIDDEN.includes(path));

/** The `field` of events by path, without statuses. If two paths share the last name, the parent's name comes first. */
export const RECORD_EVENTS: ReadonlyMap<RecordPath, FieldChange['field']> = new Map(
  COMPARED.filter((path) => !STATUSES.includes(path)).map((path) => [path, `record.${shortName(path)}`]),
);
export const OTHER_FIELDS = 'record.other';

/** Returns the `SHOWN` fields as text. Records with the same text count as the same record. */
export function shownText({ documented }: RecordFields): string {
  return JSON.stringify(SHOWN.map((path) => documented.get(path) ?? null));
}

/** Compares a record with ours. `wasContrary`: the one before was not taken. `isTaken`: this one is taken anyway. */
export function decideChange(
  comparison: RecordComparison,
  { wasContrary, isTaken }: { readonly wasContrary: boolean; readonly isTaken: boolean },
): RecordChange {
  const { newest, received, newestHash, receivedHash, turns: known } = comparison;
  const turns = turned(comparison, wasContrary);
  if (turns.repeats > 0 && !isTaken) return { fields: [], isContrary: true, turns };
  const changed = COMPARED.filter((path) => {
    const [before, after] = [newest.documented.get(path), received.documented.get(path)];
    return before !== after && !(RECORD_NUMBERS.includes(path) && sameDecimal(before, after));
  });
  const other = otherChange(newest, received);
  // An exchange may date each answer anew, so a date that changes alone is stored without an event.
  const isDateAlone = other.length === 0 && changed.every((path) => path === DATE);
  const fields = isDateAlone ? [] : [...changed.flatMap((path) => documentedChange(path, newest, received)), ...other];
  const isQuiet = changed.every((path) => QUIET.includes(path));
  const quietChanges = isQuiet ? known.quietChanges + Math.sign(fields.length) : 0;
  const earlierHash = receivedHash === newestHash ? known.earlierHash : newestHash;
  return {
    fields: quietChanges <= MOST_QUIET_CHANGES ? fields : [],
    isContrary: false,
    turns: { earlierHash, turns: turns.turns, repeats: 0, quietChanges },
  };
}

/** Counts turns and repeats. `repeats` is 0 if the received record may be taken. */
function turned({ newestHash, receivedHash, turns: known }: RecordComparison, wasContrary: boolean): Turns {
  if (receivedHash === newestHash) return { ...known, repeats: 0 };
  if (receivedHash !== known.earlierHash) return { ...known, turns: 1, repeats: 0 };
  const isSameTurn = wasContrary && known.repeats > 0;
  const turns = isSameTurn ? known.turns : known.turns + 1;
  const repeats = isSameTurn ? known.repeats + 1 : 1;
  const isTaken = turns < FIRST_CONTRARY_TURN || repeats >= Math.min(turns, MOST_REPEATS);
  return { ...known, turns, repeats: isTaken ? 0 : repeats };
}

function documentedChange(path: RecordPath, newest: RecordFields, received: RecordFields): readonly FieldChange[] {
  const field = RECORD_EVENTS.get(path);
  if (field === undefined) return [];
  if (HIDDEN.includes(path)) return [{ field, oldValue: null, newValue: 'changed' }];
  return [{ field, oldValue: newest.documented.get(path) ?? null, newValue: received.documented.get(path) ?? null }];
}

/** Names the changed undocumented fields without their values, because any value may be a secret. */
function otherChange({ other: newest }: RecordFields, { other: received }: RecordFields): readonly FieldChange[] {
  const paths = [...new Set([...newest.keys(), ...received.keys()])];
  const changed = paths.filter((path) => newest.get(path) !== received.get(path));
  return changed.length === 0 ? [] : [{ field: OTHER_FIELDS, oldValue: null, newValue: changed.join(', ') }];
}

function shortName(path: RecordPath): string {
  const name = (of: string) => of.slice(of.lastIndexOf('.') + 1);
  const isUnique = RECORD_PATHS.every((other) => other === path || name(other) !== name(path));
  return isUnique ? name(path) : path.split('.').slice(-2).join('.');
}
