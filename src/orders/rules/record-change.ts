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
  /** How many answers in a row brought the earlier record again, which was not taken. */
  repeats: 0,
  /** How many records in a row changed only fields that an exchange may write anew for each answer. */
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
  /** The changes to record, without the three statuses, which are recorded elsewhere. */
  readonly fields: readonly FieldChange[];
  /** True if the record is not taken, because the exchange has gone back and forth too often. */
  readonly isContrary: boolean;
  readonly turns: Turns;
}

/** From this turn on, our record stays until the other record comes several times in a row. */
const FIRST_CONTRARY_TURN = 3;
/** The other record is taken after as many answers in a row as there were turns, but at most this number. */
const MOST_REPEATS = 20;
/** The most records in a row with events although only quiet fields changed. */
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

/** The `field` of events by record field, without the statuses: the name, with its parent's if two fields share it. */
export const RECORD_EVENTS: ReadonlyMap<RecordPath, FieldChange['field']> = new Map(
  COMPARED.filter((path) => !STATUSES.includes(path)).map((path) => [path, `record.${shortName(path)}`]),
);
export const OTHER_FIELDS = 'record.other';

/** The text of all shown fields of a record but the server's time. Records with the same text say the same. */
export function shownText({ documented }: RecordFields): string {
  return JSON.stringify(SHOWN.map((path) => documented.get(path) ?? null));
}

/** Decides about a record that is not older. `wasContrary`: the last was not taken; `isTaken`: this one must be. */
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

/** Counts the turns. `repeats` counts the answers in a row with a record that must not be taken; 0 if it is taken. */
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

/** Names the fields without their values, because any value may be a secret. */
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
