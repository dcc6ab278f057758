import type Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import type { Plan } from '../plan/plan.ts';
import { contradictionsIn, isAgeKnown, canBeCompared } from './contradictions.ts';
import { quoted, type Known, type Knowledge } from './known.ts';
import type { Row } from './orders.ts';

const HOUR_MS = 3_600_000;
/** Whatever time alone brings was judged since, by one of the sweeps. */
const JUDGED_WITHIN_MS = 13 * HOUR_MS;
const ORDER_MISSING_AFTER_MS = 24 * HOUR_MS;
/** Counted in an index of their own. */
const NOT_COUNTED = ['pending', 'invalid'];
const CLASS_OF = {
  age: 'ID_COLLISION',
  pair: 'PAIR_MISMATCH',
  type: 'TYPE_MISMATCH',
  amount: 'AMOUNT_MISMATCH',
} as const;
const HASHED = [
  'account',
  'type',
  'subject',
  'field',
  'old_value',
  'new_value',
  'observed_at',
  'looked_up_before',
  'exchange_time',
  'source',
  'reason',
  'actor',
];

interface FindingRow {
  readonly id: string;
  readonly class: string;
  readonly status: string;
}

/** Checks at the end what is derived from the orders and their events: the chain, the counts, the findings. */
export class Books {
  readonly #reader: Database.Database;
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;

  constructor(reader: Database.Database, plan: Plan, knowledge: Knowledge) {
    this.#reader = reader;
    this.#plan = plan;
    this.#knowledge = knowledge;
  }

  /** `wallMs` is what the clock shows now. */
  checkEnd(rows: ReadonlyMap<string, Row>, wallMs: number): void {
    this.#checkChain();
    this.#checkCounts(rows);
    this.#checkSecrets();
    this.#checkFindings(rows, wallMs);
  }

  /** The chain as docs/architecture.md tells it, computed once more. */
  #checkChain(): void {
    const events = this.#all('select * from events where account = ? order by id');
    let previous = '';
    for (const event of events) {
      const text = JSON.stringify([previous, ...HASHED.map((column) => event[column])]);
      const hash = createHash('sha256').update(text).digest('hex');
      if (event['previous_hash'] !== previous || event['hash'] !== hash)
        this.#knowledge.fail('the chain is whole', `event ${String(event['id'])} does not follow from the one before`);
      previous = hash;
    }
    for (const { hash } of this.#all('select hash from event_heads where account = ?')) {
      if (previous !== hash) this.#knowledge.fail('the chain is whole', `its head is ${String(hash)}`);
    }
  }

  #checkCounts(rows: ReadonlyMap<string, Row>): void {
    const states = [...rows.values()].map(({ state }) => state).filter((state) => !NOT_COUNTED.includes(state));
    const open = this.#findings().filter(({ status }) => status === 'open');
    const [{ counts = '{}' } = {}] = this.#all('select counts from event_heads where account = ?');
    const { orders = {}, findings = {} } = JSON.parse(String(counts)) as Record<string, Record<string, number>>;
    const counted = Object.entries(orders).filter(([state]) => !NOT_COUNTED.includes(state));
    this.#compare('orders by state', counted, countBy(states));
    this.#compare('open findings by class', Object.entries(findings), countBy(open.map((one) => one.class)));
  }

  #compare(
    what: string,
    counted: readonly (readonly [string, number])[],
    real: Readonly<Record<string, number>>,
  ): void {
    const text = sorted(counted);
    const expected = sorted(Object.entries(real));
    if (text !== expected) this.#knowledge.fail('counts equal the rows', `${what}: ${text}; there are: ${expected}`);
  }

  #checkSecrets(): void {
    for (const table of ['events', 'findings', 'account_holds']) {
      const secret = this.#all(`select * from ${table} where account = ?`).find((row) =>
        JSON.stringify(row).includes('canary'),
      );
      if (secret !== undefined) this.#knowledge.fail('secrets stay in', `${table}: ${JSON.stringify(secret)}`);
    }
  }

  #checkFindings(rows: ReadonlyMap<string, Row>, wallMs: number): void {
    const findings = this.#findings();
    const records = new Map(
      this.#all('select external_order_id as id, body from order_records where account = ?').map(({ id, body }) => [
        id,
        String(body),
      ]),
    );
    for (const known of this.#knowledge.all) {
      const row = rows.get(known.order.id);
      if (row === undefined) continue;
      const unresolved = findings.filter(({ id, status }) => id === known.order.id && status !== 'resolved');
      const has = (name: string) => unresolved.some((finding) => finding.class === name);
      if (this.#plan.clockSet.length === 0) this.#checkAges(known, row, wallMs, has);
      const body = records.get(known.order.id);
      if (body !== undefined) this.#checkRecord(known, body, has);
    }
  }

  #checkAges(known: Known, { state, ...row }: Row, wallMs: number, has: (name: string) => boolean): void {
    const sinceMs = wallMs - Date.parse(String(row['updated_at']));
    if (sinceMs < JUDGED_WITHIN_MS) return;
    // An order that contradicts the row leaves the outcome of its create as unknown as it was.
    if (state !== 'disputed') this.#expect(known, 'CREATE_UNKNOWN', has, ['unknown', 'held'].includes(state), state);
    const isMissing = wallMs - Date.parse(String(row['sent_at'])) > ORDER_MISSING_AFTER_MS + JUDGED_WITHIN_MS;
    if (state !== 'accepted' || isMissing) this.#expect(known, 'ORDER_MISSING', has, state === 'accepted');
  }

  /** By the newest record, whichever contradictions make an order disputed. */
  #checkRecord(known: Known, body: string, has: (name: string) => boolean): void {
    const { outputPosition } = this.#plan.settings;
    const disputedBy = ['age', 'pair', 'type', 'amount'] as const;
    const settings = { outputPosition, disputedBy };
    const kinds = contradictionsIn(body, known.order, known.asset, settings);
    const shown = disputedBy
      .filter((kind) => kind !== 'age' || isAgeKnown(known, this.#plan))
      .filter((kind) => canBeCompared(kind, body, known.order, settings));
    for (const kind of shown) this.#expect(known, CLASS_OF[kind], has, kinds.includes(kind));
  }

  #expect(known: Known, name: string, has: (name: string) => boolean, isTrue: boolean, detail = ''): void {
    if (has(name) !== isTrue)
      this.#knowledge.fail('findings exact', `${quoted(known)} ${isTrue ? 'has no' : 'has a'} ${name}, ${detail}`);
  }

  #findings(): FindingRow[] {
    return this.#all('select external_order_id as id, class, status from findings where account = ?') as never;
  }

  /** Each query is of the account. */
  #all(query: string): Readonly<Record<string, unknown>>[] {
    return this.#reader.prepare(query).all(this.#plan.account) as Readonly<Record<string, unknown>>[];
  }
}

function sorted(counted: readonly (readonly [string, number])[]): string {
  return counted
    .map(([name, count]) => `${name} ${count}`)
    .toSorted((one, other) => one.localeCompare(other))
    .join();
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
