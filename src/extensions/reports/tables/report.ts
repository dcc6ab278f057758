import { accountsIn } from '../../commands/tables/accounts.ts';
import type { Row } from '../../documents/document.ts';
import { type ReportFinding, MOST_UNCHECKED, type UncheckedOrder } from '../reconciliation/findings.ts';
import { UNCHECKED_REASONS, type UncheckedReason } from '../reconciliation/judge.ts';
import { TemporaryTables } from '../../commands/tables/temporary.ts';
import type { Database } from '../../../store/port.ts';

const FINDING =
  'id, rank, severity, class, status, account, external_order_id, pair, day, expected, actual, currency, since, reason';
const UNCHECKED = 'account, external_order_id, reason, pair, state, since, last_lookup, state_reason';

const TABLES = `create table finding (${FINDING}); create table unchecked (${UNCHECKED});
  create table to_look_at (account, external_order_id, primary key (account, external_order_id)) without rowid;
  create table account_row (section, row);
  create index finding_of_order on finding (account, external_order_id, class)`;

const REASON_PLACE = `case reason ${UNCHECKED_REASONS.map((reason, place) => `when '${reason}' then ${place}`).join(' ')} end`;

const findingsWhere = (condition: string) => `select ${FINDING} from finding where ${condition}
  order by status = 'acknowledged', status = 'decided', rank, class, account, external_order_id, since, expected, actual, id`;

export class ReportTables extends TemporaryTables {
  readonly add = this.inserter<ReportFinding>('finding', FINDING);
  readonly addUnchecked = this.inserter<UncheckedOrder>('unchecked', UNCHECKED);
  readonly #addUnlessKnown = this.sqlite.prepare(`insert into finding select ${FINDING.replaceAll(/\w+/g, '@$&')}
    where not exists (select 1 from finding
      where account = @account and external_order_id = @external_order_id and class = @class)`);
  readonly #addToLookAt = this.sqlite.prepare('insert or ignore into to_look_at values (?, ?)');
  readonly #addAccountRow = this.sqlite.prepare('insert into account_row values (?, ?)');

  constructor() {
    super(TABLES);
  }

  addUnlessKnown(finding: ReportFinding): boolean {
    return this.#addUnlessKnown.run(finding).changes === 1;
  }

  addToLookAt(account: string, externalOrderId: string): boolean {
    return this.#addToLookAt.run(account, externalOrderId).changes === 1;
  }

  addAccountRow(section: string, row: Row): void {
    this.#addAccountRow.run(section, JSON.stringify(row));
  }

  *accountRows(section: string): Iterable<Row> {
    const rows = this.rows<{ row: string }>('select row from account_row where section = ? order by rowid', section);
    for (const { row } of rows) yield JSON.parse(row) as Row;
  }

  findings(): Iterable<ReportFinding> {
    return this.rows(findingsWhere('true'));
  }

  decided(severity: string): number {
    return this.count(`finding where status = 'decided' and severity = ?`, severity);
  }

  classes(): Iterable<Row> {
    return this.rows(`select day, pair, class, severity,
        sum(status <> 'acknowledged') as open, sum(status = 'acknowledged') as acknowledged
      from finding group by day, pair, class, severity order by day, pair, class, severity`);
  }

  uncheckedCounts(): ReadonlyMap<UncheckedReason, number> {
    const query = `select reason, count(*) as orders from unchecked where reason <> 'disputed' group by reason`;
    const rows = this.rows<{ reason: UncheckedReason; orders: number }>(query);
    return new Map(Iterator.from(rows).map(({ reason, orders }) => [reason, orders]));
  }

  worst(): ReportFinding | undefined {
    return [...this.rows<ReportFinding>(`${findingsWhere(`status = 'open' and severity <> 'info'`)} limit 1`)][0];
  }

  unchecked(areDisputed: boolean): Iterable<UncheckedOrder> {
    const places = 'row_number() over (partition by reason order by since, account, external_order_id)';
    const query = `select ${UNCHECKED} from (select *, ${places} as place from unchecked where (reason = 'disputed') = ?)
      where place <= ? order by ${REASON_PLACE}, place`;
    return this.rows(query, Number(areDisputed), MOST_UNCHECKED);
  }

  ordersToLookAt(): number {
    return this.count('to_look_at');
  }
}

export async function reportedAccounts(db: Database, account: string | undefined): Promise<readonly string[]> {
  return account === undefined ? await accountsIn(db, 'merchant_orders') : [account];
}
