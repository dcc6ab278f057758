import { readDecimal, isWithin, type Tolerance } from '../../../base/decimal.ts';
import { TemporaryTables } from '../../commands/tables/temporary.ts';

type Amount = { readonly id: string } & Readonly<Record<'amount' | 'currency', string | null>>;
type LedgerLine = Amount & { readonly file: string; readonly line: number };

export interface LedgerOrder extends Amount {
  /** 1 if the exchange has or may have the order, 0 if it does not; null if the order is abandoned or disputed. */
  readonly isAtExchange: 0 | 1 | null;
}

type LedgerDifference = Readonly<
  Record<'problem' | 'external_order_id', string> &
    Record<'file' | 'ours' | 'ledger', string | null> & { line: number | null }
>;

const LINE = 'id, amount, currency, file, line';
const ORDER = 'id, amount, currency, isAtExchange';
const TABLES = `create table ledger (${LINE}); create table ours (${ORDER});
  create table difference (problem, external_order_id, file, line, ours, ledger)`;

/** A line of the ledger has at most one problem: the first `when` that is true. An unknown currency is not compared. */
const COMPARE = `
  create index ledger_id on ledger (id);
  create index ours_id on ours (id);
  insert into difference select * from (
    select case
        when exists (select 1 from ledger first where first.id = ledger.id and first.rowid < ledger.rowid) then 'duplicate'
        when ours.id is null then 'notOurs'
        when ours.isAtExchange is null then 'givenUp'
        when not ours.isAtExchange then 'notAtExchange'
        when ledger.currency <> ours.currency then 'currencyDiffers'
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

export class LedgerTables extends TemporaryTables {
  readonly addLine = this.inserter<LedgerLine>('ledger', LINE);
  readonly addOrder = this.inserter<LedgerOrder>('ours', ORDER);

  constructor() {
    super(TABLES);
  }

  lines(): number {
    return this.count('ledger');
  }

  compare(tolerance: Tolerance): number {
    this.sqlite.function('amount_problem', { deterministic: true }, (ours, ledger, currency) => {
      const [left, right] = [readDecimal(ours), readDecimal(ledger)];
      if (!left.ok || !right.ok) return 'amountUnreadable';
      return isWithin(left.value, right.value, tolerance, currency as string | null) ? null : 'amountDiffers';
    });
    this.sqlite.exec(COMPARE);
    return this.count('difference');
  }

  differences(): Iterable<LedgerDifference> {
    return this.rows('select * from difference order by problem, external_order_id, file, line');
  }
}
