import Database from 'better-sqlite3';
import type { Window } from './plan/chance.ts';
import { quoted } from './plan/names.ts';
import type { PlannedOrder } from './plan/orders.ts';
import { SHOP_IS_BROKEN, type Observer } from './observer/observer.ts';
import type { Scheduler } from './scheduler.ts';

const RETRY_MS = 60_000;

/** What the merchant's own program finds around it. */
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

  /** Goes on with a file that was put in place of the other. */
  reopen(): void {
    this.#database = open(this.#path);
  }

  #read(account: string, id: string): Row | undefined {
    return this.#database
      .prepare('select * from merchant_orders where account = ? and external_order_id = ?')
      .get(account, id) as Row | undefined;
  }

  /** Saves every column as it was read, as programs do that know rows as objects. The database takes it where nothing of ours differs. */
  #save({ plan, observer }: Owner, row: Row): void {
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

  /**
   * The trigger writes each change of a row into a table of the merchant's own; at times that table refuses. Another one takes
   * back, in silence, that an order is about to be sent.
   */
  addTrigger(raises: Window | null, takesBack: boolean): void {
    this.#database.exec(`
      create table shop_log (external_order_id text, state text);
      create table shop_broken (reason text);
      create table shop_takes_back (reason text);
      create trigger shop_undoes after update of state on merchant_orders when new.state = 'sending' begin
        update merchant_orders set state = 'pending', state_reason = 'not now', revision = revision + 1
        where account = new.account and external_order_id = new.external_order_id
          and exists (select 1 from shop_takes_back);
      end;
      create trigger shop_notes after update on merchant_orders begin
        select raise(abort, '${SHOP_IS_BROKEN}') where exists (select 1 from shop_broken);
        insert into shop_log values (new.external_order_id, new.state);
      end;
    `);
    if (raises === null) return;
    const { scheduler } = this.#world;
    const table = takesBack ? 'shop_takes_back' : 'shop_broken';
    scheduler.after(raises.from, "the shop's trigger raises", () => {
      this.#isBroken = !takesBack;
      this.#database.exec(`insert into ${table} values ('deployment')`);
    });
    scheduler.after(raises.to, "the shop's trigger raises no more", () => {
      this.#isBroken = false;
      this.#database.exec(`delete from ${table}`);
      this.#world.wake();
    });
  }
}

/** Whether the database takes what is written. */
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
