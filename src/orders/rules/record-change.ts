import { sameDecimal } from '../../base/decimal.ts';
import { RECORD_NUMBERS, RECORD_PATHS, type RecordFields, type RecordPath } from './record.ts';

interface FieldChange {
  readonly field: `record.${string}`;
  readonly oldValue: string | null;
  readonly newValue: string | null;
}

/** Facts beside the newest record of an order that show an exchange which goes back and forth between two records. */
export interface Turns {
  readonly earlierHash: string | null;
  /** How often the exchange went from one of these two records to the other. */
  readonly turns: number;
  /** How many answers in a row brought the earlier record again, which was not taken. */
  readonly repeats: number;
  /** How many records in a row changed only fields that an exchange may write anew for each answer. */
  readonly quietChanges: number;
}

export interface RecordComparison {
  readonly newest: RecordFields;
  readonly received: RecordFields;
  readonly newestHash: string;
  readonly receivedHash: string;
  readonly turns: Turns;
}

export interface RecordChange {
  /** The changes to record; those of the three statuses are recorded by themselves. */
  readonly fields: readonly FieldChange[];
  /** The exchange has gone back and forth too often: the record is not taken. */
  readonly isContrary: boolean;
  readonly turns: Turns;
}

export const NO_TURNS: Turns = { earlierHash: null, turns: 0, repeats: 0, quietChanges: 0 };

/** From this turn between two records on, the newest record stays until the other one comes several times in a row. */
const FIRST_CONTRARY_TURN = 3;
/** The other record is taken once it came as often in a row as there were turns, and after this many times at the latest. */
const MOST_REPEATS = 20;
/** The most records in a row that change only quiet fields and have events. */
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

/** The `field` of the events of each field of a record that has no status: its name, with the one before if two have it. */
export const RECORD_EVENTS: ReadonlyMap<RecordPath, FieldChange['field']> = new Map(
  COMPARED.filter((path) => !STATUSES.includes(path)).map((path) => [path, `record.${shortName(path)}`]),
);
export const OTHER_FIELDS = 'record.other';

/** The text of all that is shown of a record but the time of the server: two records with the same text say the same. */
export function shownText({ documented }: RecordFields): string {
  return JSON.stringify(SHOWN.map((path) => documented.get(path) ?? null));
}

/** Decides about a record that is not older. `wasContrary`: the last answer was not taken; `isTaken`: this is. */
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
  // An exchange may date each answer anew: a date that changes alone is stored, and is no event.
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

/** Counts the turns. If the record must not be taken, `repeats` counts how often in a row it came. */
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

/** Names the fields only, because any of them may be a secret. */
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
