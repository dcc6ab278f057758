/** The state of ownership.pml, which says what each value stands for. */
export const [PENDING, SENDING, UNKNOWN, SETTLED, REFUSED] = [0, 1, 2, 3, 4];
export const [IDLE, INTENT, PROVED, BEGUN, SENT] = [0, 1, 2, 3, 4];
export const [NOTHING, FLYING, YES, NO, LOST] = [0, 1, 2, 3, 4];
export const [GONE, STANDBY, SPLIT] = [0, 1, 2];

const ROW = ['order', 'doubt', 'sent', 'gen', 'holder', 'last', 'lease', 'line'] as const;
const FAIL_OVER = ['open', 'toLine', 'lostGen', 'told'] as const;
const WORLD = ['p', 'link', 'promoted', 'taken', 'arrived'] as const;
const WORKER = ['has', 'trust', 'ready', 'at', 'spent', 'was', 'mem', 'line', 'old', 'wire'] as const;
type Row = Record<(typeof ROW)[number] | (typeof FAIL_OVER)[number], number>;
type Worker = Record<(typeof WORKER)[number], number>;
export type Slot = 0 | 1;

export interface State extends Record<(typeof WORLD)[number], number> {
  readonly rows: readonly [Row, Row];
  readonly workers: readonly [Worker, Worker];
}

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
export const EMPTY_ROW: Row = zeros([...ROW, ...FAIL_OVER]);
export const NEW_WORKER: Worker = zeros(WORKER);
export const BEGINNING: State = {
  ...zeros(WORLD),
  link: STANDBY,
  rows: [EMPTY_ROW, EMPTY_ROW],
  workers: [NEW_WORKER, NEW_WORKER],
};

/** Equal states have equal keys. */
export function keyOf({ p, link, promoted, taken, arrived, rows, workers }: State): string {
  const values = [p, link, promoted, taken, arrived];
  for (const part of [...rows, ...workers]) values.push(...Object.values(part));
  return String.fromCharCode(...values);
}

/** A state as one worker sees it. */
export class Scene {
  readonly state: State;
  readonly name: number;
  readonly me: Worker;
  readonly other: Worker;
  /** The newest primary, and the server beside it. */
  readonly primary: Row;
  readonly standby: Row;
  /** The server that the worker is connected to. */
  readonly row: Row;

  constructor(state: State, w: Slot) {
    const { p, rows, workers } = state;
    this.state = state;
    this.name = w + 1;
    [this.me, this.other] = w === 0 ? workers : [workers[1], workers[0]];
    [this.primary, this.standby] = p === 0 ? rows : [rows[1], rows[0]];
    this.row = this.me.old === 1 ? this.standby : this.primary;
  }

  copy(): Scene {
    const { rows, workers } = this.state;
    const copied = { rows: [{ ...rows[0] }, { ...rows[1] }], workers: [{ ...workers[0] }, { ...workers[1] }] } as const;
    return new Scene({ ...this.state, ...copied }, (this.name - 1) as Slot);
  }

  /** The worker has renewed its heartbeat on the time-line of its server. */
  get isOnLine(): boolean {
    return this.me.has > 0 && this.me.line === this.state.promoted - this.me.old;
  }

  get isFenced(): boolean {
    return this.isOnLine && this.me.has === this.row.gen && this.row.last === this.name;
  }

  /** The server lacks the intent that the worker sent. */
  get isForgotten(): boolean {
    return this.me.mem === 2 || (this.me.mem === 1 && this.primary.sent !== this.name);
  }

  commit(): void {
    for (const row of this.state.rows) if (row.last === this.name) row.last = 0;
    this.row.last = this.name;
    this.row.line = this.state.promoted - this.me.old;
  }

  assumeSent(): void {
    const { order, doubt } = this.primary;
    if (order === PENDING || order === REFUSED) Object.assign(this.primary, { order: UNKNOWN, doubt: 2 });
    else if (order === UNKNOWN && doubt === 0) this.primary.doubt = 1;
  }
}
