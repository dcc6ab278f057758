import Database from 'better-sqlite3';
import type { Window } from './plan/chance.ts';
import { quoted } from './plan/names.ts';
import type { PlannedOrder } from './plan/orders.ts';
import type { Plan } from './plan/plan.ts';
import { SHOP_IS_BROKEN, type Observer } from './observer/observer.ts';
import type { Scheduler } from './scheduler.ts';

const RETRY_MS = 60_000;

/** The surroundings of the merchant's own program. */
interface ShopSurroundings {
  readonly scheduler: Scheduler;
  readonly wallMs: number;
  /** The program has seen that there are new rows. */
  wake(): void;
}

/** The account that a row is of. */
interface Owner {
  readonly plan: { readonly account: string };
  readonly observer: Observer;
}

type Row = Readonly<Record<string, string | number | null>>;

/**
 * A trigger of the merchant's: it raises, its table is gone, or it undoes in silence that an order is about to be sent, before that is
 * written, after it, or, as a server has it, when the transaction ends.
 */
const TRIGGER_KINDS = [
  ...(['after', 'raises', 'before', 'gone', 'after', 'raises', 'deferred', 'gone'] as const),
  ...(['after', 'raises', 'deferred', 'gone', 'deferred', 'raises', 'deferred', 'gone'] as const),
];
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

/** The kind of trigger of a world; triggers are deferred if processes share a server alone. */
export function triggerKindOf({ seed, shared }: Pick<Plan, 'seed' | 'shared'>): TriggerKind {
  const kind = TRIGGER_KINDS[seed % TRIGGER_KINDS.length] ?? 'after';
  return kind === 'deferred' && shared === null ? (seed % 4 === 0 ? 'after' : 'before') : kind;
}

const MAKE_LOG = 'create table shop_log (external_order_id text, state text)';

const IS_SENT = `update of state on merchant_orders when new.state = 'sending' and exists (select 1 from shop_takes_back) begin`;
const UNDOES: Readonly<Partial<Record<TriggerKind, string>>> = {
  before: `create trigger shop_undoes before ${IS_SENT} select raise(ignore); end;`,
  after: `create trigger shop_undoes after ${IS_SENT}
    update merchant_orders set state = 'pending', state_reason = 'not now', revision = revision + 1
    where account = new.account and external_order_id = new.external_order_id; end;`,
  deferred: `create table shop_deferred (account text, id text);
    create trigger shop_undoes after ${IS_SENT} insert into shop_deferred values (new.account, new.external_order_id); end;`,
};

/** The work of a server on a deferred trigger when it ends a transaction, or runs such triggers before that. */
export const RUN_DEFERRED = [
  `update merchant_orders set state = 'pending', state_reason = 'not now', revision = revision + 1
    where state = 'sending' and (account, external_order_id) in (select account, id from shop_deferred)`,
  'delete from shop_deferred',
];

/** The merchant's own program beside ours: it inserts and corrects rows, saves whole rows, and has a trigger of its own. */
export class Shop {
  readonly #world: ShopSurroundings;
  readonly #path: string;
  #database: Database.Database;
  #isBroken = false;

  constructor(world: ShopSurroundings, path: string) {
    this.#world = world;
    this.#path = path;
    this.#database = open(path);
  }

  insert(owner: Owner, order: PlannedOrder): void {
    // Our own triggers change the row that is inserted, so its own trigger stops the shop too.
    if (this.#isBroken)
      return void this.#world.scheduler.after(RETRY_MS, 'insert again', () => this.insert(owner, order));
    const { id, asset, paymentToken, position } = order;
    const now = new Date(this.#world.wallMs).toISOString();
    this.#database
      .prepare(
        `insert into merchant_orders
           (account, external_order_id, asset, asset_position, from_currency, to_currency, payment_token, created_at, next_action_at)
         values (?, ?, ?, ?, 'BTC', 'EUR', ?, ?, ?)`,
      )
      .run(owner.plan.account, id, asset, position, paymentToken, now, now);
    owner.observer.inserted(order);
    this.#world.wake();
  }

  /** The merchant corrects a row; once it was sent, the database refuses. */
  correct({ plan, observer }: Owner, { id }: PlannedOrder): void {
    const state = this.#read(plan.account, id)?.['state'];
    if ((state !== 'pending' && state !== 'invalid') || this.#isBroken) return;
    const update = this.#database.prepare(
      'update merchant_orders set asset = ? where account = ? and external_order_id = ?',
    );
    // An order that may have been sent before stays as it was.
    if (!isTaken(() => update.run('7.25', plan.account, id))) return;
    observer.corrected(id, '7.25');
    this.#world.wake();
  }

  /** A correction was lost, and the shop makes it once more. */
  correctAgain(owner: Owner, order: PlannedOrder): void {
    const asset = owner.observer.assetOf(order.id);
    if (asset !== undefined && this.#read(owner.plan.account, order.id)?.['asset'] !== asset)
      this.correct(owner, order);
  }

  /** Reads a row, and saves it as it was after a while. */
  saveStale(owner: Owner, id: string, ms: number): void {
    const row = this.#read(owner.plan.account, id);
    if (row === undefined) return;
    this.#world.scheduler.after(ms, `the shop saves ${quoted(owner.plan.account, id)}`, () => this.#save(owner, row));
  }

  close(): void {
    this.#database.close();
  }

  /** Continues with a file that was put in place of the other. */
  reopen(): void {
    this.#database = open(this.#path);
  }

  #read(account: string, id: string): Row | undefined {
    return this.#database
      .prepare('select * from merchant_orders where account = ? and external_order_id = ?')
      .get(account, id) as Row | undefined;
  }

  /** Saves every column as it was read, as programs do that know rows as objects. The database takes it if nothing of ours differs. */
  #save({ plan, observer }: Owner, row: Row): void {
    if (this.#isBroken) return;
    const columns = Object.keys(row);
    const assignments = columns.map((column) => `${column} = @${column}`).join(', ');
    const before = this.#read(plan.account, String(row['external_order_id']));
    const update = this.#database.prepare(
      `update merchant_orders set ${assignments} where account = @account and external_order_id = @external_order_id`,
    );
    if (!isTaken(() => update.run(row))) return;
    if (before?.['asset'] !== row['asset'])
      observer.corrected(String(row['external_order_id']), row['asset'] as string | null);
    this.#world.wake();
  }

  /** The trigger writes each change of a row into a table of the merchant's own. In a time it does what `kind` says beside that. */
  addTrigger(raises: Window | null, kind: TriggerKind): void {
    this.#database.exec(`
      ${MAKE_LOG};
      create table shop_broken (reason text);
      create table shop_takes_back (reason text);
      ${UNDOES[kind] ?? ''}
      create trigger shop_notes after update on merchant_orders begin
        select raise(abort, '${SHOP_IS_BROKEN}') where exists (select 1 from shop_broken);
        insert into shop_log values (new.external_order_id, new.state);
      end;
    `);
    if (raises === null) return;
    const { scheduler } = this.#world;
    const isSilent = kind in UNDOES;
    const table = isSilent ? 'shop_takes_back' : 'shop_broken';
    scheduler.after(raises.from, "the shop's trigger raises", () => {
      this.#isBroken = !isSilent;
      this.#database.exec(kind === 'gone' ? 'drop table shop_log' : `insert into ${table} values ('deployment')`);
    });
    scheduler.after(raises.to, "the shop's trigger raises no more", () => {
      this.#isBroken = false;
      this.#database.exec(kind === 'gone' ? MAKE_LOG : `delete from ${table}`);
      this.#world.wake();
    });
  }
}

/** Tells whether the database takes a write. */
function isTaken(write: () => unknown): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')) return false;
    throw error;
  }
}

function open(path: string): Database.Database {
  const database = new Database(path);
  database.pragma('synchronous = off');
  return database;
}
