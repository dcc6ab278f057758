import type pg from 'pg';
import type { LoggedRequest, Sandbox } from '../../src/sandbox/server.ts';

/** What a request of a process that was killed may take to arrive. */
const ON_ITS_WAY_MS = 100;
const MOST_TOLD = 20;

/** What came of a tunnel. */
export interface Verdict {
  readonly orders: number;
  readonly preOrders: number;
  readonly requests: number;
  readonly held: number;
  /** Milliseconds from a kill until each account of the killed process had its next request, in order. */
  readonly takeOverMs: readonly number[];
  /** The broken promises. */
  readonly violations: readonly string[];
}

/** What is to be judged, once the processes have ended. */
interface Remains {
  readonly shop: pg.Pool;
  readonly sandbox: Sandbox;
  /** The key of each account. */
  readonly accounts: ReadonlyMap<string, string>;
  readonly exitCodes: readonly (number | null)[];
}

interface Row {
  readonly account: string;
  readonly external_order_id: string;
  readonly state: string;
}

/** Sees the requests as the exchange does, and what the shops insert. */
export class Judge {
  readonly #rate: { readonly requests: number; readonly intervalMs: number };
  readonly #inserted = new Map<string, string>();
  readonly #recent = new Map<string, number[]>();
  /** Accounts whose process was killed, and when. */
  readonly #killedAt = new Map<string, number>();
  readonly #takeOverMs: number[] = [];
  readonly #violations: string[] = [];
  #requests = 0;
  #onDriven = () => {};

  constructor(rate: { readonly requests: number; readonly intervalMs: number }) {
    this.#rate = rate;
  }

  fail(what: string): void {
    this.#violations.push(what);
  }

  inserted(account: string, id: string): void {
    this.#inserted.set(id, account);
  }

  /** A request has arrived at the exchange. */
  arrived({ externalOrderId, monotonic }: LoggedRequest): void {
    const account = externalOrderId?.split(':')[0];
    if (account === undefined) return;
    this.#requests += 1;
    const { requests, intervalMs } = this.#rate;
    const recent = (this.#recent.get(account) ?? []).filter((at) => at > monotonic - intervalMs);
    recent.push(monotonic);
    this.#recent.set(account, recent);
    if (recent.length > requests) this.fail(`${account}: ${recent.length} requests in ${intervalMs} ms`);
    const killedAt = this.#killedAt.get(account);
    if (killedAt === undefined || monotonic < killedAt + ON_ITS_WAY_MS) return;
    this.#takeOverMs.push(monotonic - killedAt);
    this.#killedAt.delete(account);
    if (this.#killedAt.size === 0) this.#onDriven();
  }

  /** The process that drove these accounts was killed. */
  killed(accounts: readonly string[], at: number): void {
    for (const account of accounts) this.#killedAt.set(account, at);
  }

  /** Resolves once each account of a process that was killed is driven again. */
  async allDriven(): Promise<void> {
    if (this.#killedAt.size > 0) await new Promise<void>((resolve) => (this.#onDriven = resolve));
  }

  async judge(remains: Remains): Promise<Verdict> {
    const { rows } = await remains.shop.query<Row>('select account, external_order_id, state from merchant_orders');
    const states = new Map(rows.map((row) => [row.external_order_id, row]));
    for (const [id, account] of this.#inserted) {
      if (states.get(id)?.account !== account) this.fail(`${id} is not in the table`);
    }
    const preOrders = this.#judgeExchange(remains, states);
    await this.#judgeHistory(remains.shop, states);
    const codes = remains.exitCodes.filter((code) => code !== 0);
    if (codes.length > 0) this.fail(`workers ended with ${codes.join(', ')}`);
    return {
      orders: rows.length,
      preOrders,
      requests: this.#requests,
      held: rows.filter(({ state }) => state === 'held').length,
      takeOverMs: this.#takeOverMs.toSorted((one, other) => one - other),
      violations: this.#violations.slice(0, MOST_TOLD),
    };
  }

  /** Every order is at the exchange once, unless a person has to say whether it is. */
  #judgeExchange({ sandbox, accounts }: Remains, states: ReadonlyMap<string, Row>): number {
    let all = 0;
    for (const [account, key] of accounts) {
      const exchange = sandbox.exchanges.get(key);
      const { preOrders, duplicated } = exchange?.census() ?? { preOrders: 0, duplicated: [] };
      all += preOrders;
      if (duplicated.length > 0) this.fail(`${account}: created twice: ${duplicated.slice(0, 3).join(', ')}`);
      for (const { external_order_id: id, state } of [...states.values()].filter((row) => row.account === account)) {
        const isMade = (exchange?.preOrdersOf(id).length ?? 0) > 0;
        if (state === 'final' && !isMade) this.fail(`${id} is final, and the exchange does not know it`);
        if (state !== 'final' && state !== 'held') this.fail(`${id} is ${state}`);
      }
    }
    return all;
  }

  /** The state of each order is its last event, and every event goes on from the one before it. */
  async #judgeHistory(shop: pg.Pool, states: ReadonlyMap<string, Row>): Promise<void> {
    const { rows } = await shop.query<{ id: string; old_value: string | null; new_value: string | null }>(
      `select external_order_id as id, old_value, new_value from order_events e where field = 'state' order by account, e.id`,
    );
    const last = new Map<string, string | null>();
    for (const { id, old_value: before, new_value: after } of rows) {
      if (before !== (last.get(id) ?? 'pending')) this.fail(`${id}: an event says ${before}, it was ${last.get(id)}`);
      last.set(id, after);
    }
    for (const { external_order_id: id, state } of states.values()) {
      if ((last.get(id) ?? 'pending') !== state) this.fail(`${id} is ${state}, its last event says ${last.get(id)}`);
    }
  }
}
