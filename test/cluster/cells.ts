import type { Replication } from '../../src/extensions/sandbox/cluster/node.ts';
import type { RowName } from './disturbances.ts';
import type { WorldNeeds } from './world.ts';

/** A set-up: how Patroni replicates, and `database.synchronousStandbys`. Without a synchronous standby 1 would send nothing. */
export const COLUMNS = {
  'asynchronous-0': { replication: 'asynchronous', standbys: 0 },
  'synchronous-0': { replication: 'synchronous', standbys: 0 },
  'synchronous-1': { replication: 'synchronous', standbys: 1 },
  'strict-0': { replication: 'strict', standbys: 0 },
  'strict-1': { replication: 'strict', standbys: 1 },
} as const satisfies Record<string, { readonly replication: Replication; readonly standbys: 0 | 1 }>;

/** The name of a set-up. */
export type ColumnName = keyof typeof COLUMNS;

/** The duplicates and losses that may happen to orders: `none` is a promise, `counted` is none. */
export interface Promised {
  /** Orders that are created twice. */
  readonly twice: 'none' | 'counted';
  /** Rows that the shop was told were inserted, and that the surviving server lacks. */
  readonly lostRows: 'none' | 'counted';
  /** Orders that a person must ask the exchange about. */
  readonly doubt: 'none' | 'counted';
}

interface Row {
  /** The disturbance, as docs/reference/survival.md says it. */
  readonly text: string;
  readonly columns: readonly ColumnName[];
  /** An order could be created twice: such cells are tried more often. */
  readonly couldDouble: boolean;
  readonly promised: Readonly<Record<ColumnName, Promised>>;
  readonly needs?: WorldNeeds;
}

const ALL = Object.keys(COLUMNS) as readonly ColumnName[];
/** One of each replication, with the setting that is meant for it. */
const EACH: readonly ColumnName[] = ['asynchronous-0', 'synchronous-1', 'strict-1'];

const NOTHING = { twice: 'none', lostRows: 'none', doubt: 'none' } as const;
const DOUBT = { ...NOTHING, doubt: 'counted' } as const;
/** Another server takes over without a loss. */
const STAYS = every(NOTHING);
/** Another server takes over. */
const FAILS_OVER = {
  ...every(NOTHING),
  'asynchronous-0': { ...DOUBT, lostRows: 'counted' },
  'synchronous-0': DOUBT,
  'strict-0': DOUBT,
} as const;
/** Two servers take writes. */
const SPLITS = {
  ...FAILS_OVER,
  'asynchronous-0': { twice: 'counted', lostRows: 'counted', doubt: 'counted' },
} as const;

/** The matrix: every row with the columns in which it makes sense. */
export const ROWS: Readonly<Record<RowName, Row>> = {
  'worker-killed': stays('the owner is killed', EACH),
  'worker-stopped-1s': stays('the owner stands still for 1 s', EACH),
  'worker-stopped-5s': stays('the owner stands still for 5 s', EACH),
  'worker-stopped-30s': stays('the owner stands still for 30 s', EACH),
  'primary-lost': failsOver('the machine of the primary is lost'),
  'primary-and-owner-lost': failsOver('the machines of the primary and of the owner are lost together'),
  'standby-behind': failsOver('both are lost while standbys are 0 to 30 s behind (not the synchronous one)'),
  'switch-over': failsOver('an operator has another machine be the primary'),
  'old-primary-back': failsOver(
    'a lost primary comes back with commits of its own (pg_rewind), and is the primary again',
  ),
  split: {
    ...failsOver('the old primary lives on for 20 s with one worker, cut off from all other machines'),
    promised: SPLITS,
    needs: { owners: 2 },
  },
  // Without etcd Patroni stops the primary, and promotes one on a new time-line when etcd is back.
  'etcd-lost': { ...stays('two of three members of etcd are lost for 15 s', EACH), promised: FAILS_OVER },
  'worker-database-cut': stays('the owner and all databases are cut apart for 10 s: both ways, out, in', EACH),
  'worker-exchange-cut': stays('the owner and the exchange are cut apart for 10 s: both ways, out, in', EACH),
  'primary-standby-cut': { ...failsOver('the primary and its standby are cut apart for 10 s: both ways, out, in') },
  'disk-full': { ...failsOver('the disk of the primary is full for 20 s'), columns: EACH },
  'worker-clock': { ...stays('the clocks of all workers are 1 h wrong', EACH), needs: { falseClock: 'worker' } },
  'server-clock': {
    ...stays('the clocks of all databases are set back by 10 min', EACH),
    needs: { falseClock: 'server' },
  },
  'connections-exhausted': stays('strangers take all connections for 8 s, and the owner is killed meanwhile', EACH),
  'pooler-killed': {
    ...stays('PgBouncer before the primary is killed, and is back after 5 s', EACH),
    needs: { isPooled: true },
  },
};

/** The names of the rows, in the order of the table. */
export const ROW_NAMES = Object.keys(ROWS) as readonly RowName[];

/** A field of the matrix. */
export interface Cell {
  readonly row: RowName;
  readonly column: ColumnName;
}

/** Every cell. */
export const CELLS: readonly Cell[] = ROW_NAMES.flatMap((row) => ROWS[row].columns.map((column) => ({ row, column })));

/** The cell that `ROW/COLUMN` names; undefined if there is none. */
export function cellNamed(name: string): Cell | undefined {
  return CELLS.find((cell) => nameOf(cell) === name);
}

/** `ROW/COLUMN`. */
export function nameOf({ row, column }: Cell): string {
  return `${row}/${column}`;
}

function every(promised: Promised): Readonly<Record<ColumnName, Promised>> {
  return Object.fromEntries(ALL.map((column) => [column, promised])) as Record<ColumnName, Promised>;
}

function stays(text: string, columns: readonly ColumnName[]): Row {
  return { text, columns, couldDouble: false, promised: STAYS };
}

function failsOver(text: string): Row {
  return { text, columns: ALL, couldDouble: true, promised: FAILS_OVER };
}
