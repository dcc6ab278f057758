import Database from 'better-sqlite3';
import { isWithin, type Tolerance } from '../../domain/amounts.ts';
import { readDecimal } from '../../domain/decimal.ts';
import type { LedgerDifference } from '../../reports/reconciliation/supplements.ts';

/** One line of a ledger that another system exported. */
export interface LedgerLine {
  readonly id: string;
  readonly amount: string | null;
  /** Null where the ledger is read without a column of currencies. */
  readonly currency: string | null;
  readonly file: string;
  readonly line: number;
}

/** One order of the database, to be compared with it. */
export interface LedgerOrder {
  readonly id: string;
  readonly amount: string | null;
  readonly currency: string | null;
  /** True when the exchange has the order, or may have it; null where a person gave it up. */
  readonly isAtExchange: boolean | null;
}

/** A ledger and the orders of the database, compared in a temporary database that is gone afterwards. */
export interface LedgerStage extends Disposable {
  readonly lines: number;
  addLine(line: LedgerLine): void;
  addOrder(order: LedgerOrder): void;
  /** Compares, once both sides are complete. Gives the number of differences. */
  compare(tolerance: Tolerance): number;
  differences(): Iterable<LedgerDifference>;
}

/** A line has one problem at most: the first that holds. */
const COMPARE = `
  create index ledger_id on ledger (id);
  create index ours_id on ours (id);
  insert into difference select * from (
    select case
        when exists (select 1 from ledger first where first.id = ledger.id and first.rowid < ledger.rowid) then 'duplicate'
        when ours.id is null then 'notOurs'
        when ours.isAtExchange is null then 'givenUp'
        when not ours.isAtExchange then 'notAtExchange'
        when ledger.currency is not null and ledger.currency is not ours.currency then 'currencyDiffers'
        else amount_problem(ours.amount, ledger.amount, ours.currency)
      end as problem,
      ledger.id, ledger.file, ledger.line,
      ours.amount || ' ' || coalesce(ours.currency, '?'), ledger.amount || coalesce(' ' || ledger.currency, '')
    from ledger left join ours on ours.id = ledger.id)
  where problem is not null;
  insert into difference
    select 'notInLedger', id, null, null, amount || ' ' || coalesce(currency, '?'), null
    from ours where isAtExchange and not exists (select 1 from ledger where ledger.id = ours.id);
  commit`;

/** Opens an empty stage. SQLite keeps it in memory while it is small and in a file without a name after that. */
export function openLedgerStage(): LedgerStage {
  const sqlite = new Database('');
  sqlite.pragma('journal_mode = off');
  sqlite.exec(`begin;
    create table ledger (id text, amount text, currency text, file text, line integer);
    create table ours (id text, amount text, currency text, isAtExchange integer);
    create table difference (problem text, external_order_id text, file text, line integer, ours text, ledger text)`);
  const addLine = sqlite.prepare('insert into ledger values (@id, @amount, @currency, @file, @line)');
  const addOrder = sqlite.prepare('insert into ours values (@id, @amount, @currency, @isAtExchange)');
  let lines = 0;
  return {
    get lines() {
      return lines;
    },
    addLine(line) {
      addLine.run(line);
      lines += 1;
    },
    addOrder: (order) =>
      void addOrder.run({ ...order, isAtExchange: order.isAtExchange === null ? null : Number(order.isAtExchange) }),
    compare(tolerance) {
      sqlite.function('amount_problem', { deterministic: true }, (ours, ledger, currency) =>
        amountProblem(ours, ledger, tolerance, currency as string | null),
      );
      sqlite.exec(COMPARE);
      return sqlite.prepare('select count(*) from difference').pluck().get() as number;
    },
    // Begun when it is read: a statement that nobody has read to its end keeps the database from being closed.
    *differences() {
      yield* sqlite
        .prepare<[], LedgerDifference>('select * from difference order by problem, external_order_id, file, line')
        .iterate();
    },
    [Symbol.dispose]: () => void sqlite.close(),
  };
}

function amountProblem(ours: unknown, ledger: unknown, tolerance: Tolerance, currency: string | null): string | null {
  const [left, right] = [readDecimal(ours), readDecimal(ledger)];
  if (!left.ok || !right.ok) return 'amountUnreadable';
  return isWithin(left.value, right.value, tolerance, currency) ? null : 'amountDiffers';
}
