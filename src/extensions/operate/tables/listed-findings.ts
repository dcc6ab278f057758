import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { IdFilter } from '../../commands/options.ts';
import { accountsIn } from '../../commands/tables/accounts.ts';
import { CLASSES } from '../finding-classes.ts';
import { SEVERITIES, severityOf, type Severity } from '../../../findings/rules/classes.ts';
import type { FindingStatus } from '../../../findings/rules/finding.ts';
import type { FindingRow } from '../../../store/tables/findings.ts';
import { hasDecision } from './decided-findings.ts';
import { isInPeriod, isLike, listAccounts, newestFirst } from './listed.ts';
import type { Listed, OfAccount, RowFilter } from './listed.ts';
import { allOf, unindexed } from '../../../store/dialect.ts';
import type { Database } from '../../../store/port.ts';

/** The most findings that a list examines of each status and class of an account, or of the orders that match an id. */
const MOST_READ = 10_000;
export const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly FindingStatus[];
/** Parts of the open findings: `decided` if a person has decided about the order. */
export const OPEN_PARTS = ['undecided', 'decided'] as const;

export type ListedFinding = FindingRow & { readonly is_decided: boolean };

export type FindingPlace = Readonly<{ id: number; severity: Severity }>;

interface FindingFilter extends RowFilter {
  readonly severity?: Severity | undefined;
  readonly status?: FindingStatus | (typeof OPEN_PARTS)[number] | undefined;
  readonly after?: FindingPlace | undefined;
}
type Filter = OfAccount<FindingFilter>;

/** Lists the worst findings first, and of one severity the newest first. Queries each class unless `order` is set. */
export async function listFindings(db: Database, filter: FindingFilter): Promise<Listed<ListedFinding>> {
  const list = (one: Filter) => listOfAccount(db, one);
  const { rows, isCut } = await listAccounts(filter, () => accountsIn(db, 'findings'), list, compareRows);
  return { rows: rows.map((row) => ({ ...row, is_decided: Boolean(row.is_decided) })), isCut };
}

type Found = FindingRow & { readonly is_decided: unknown };
const IS_DECIDED = sql<SqlBool>`status = 'open' and ${hasDecision('findings')}`;

function compareRows(one: FindingRow, other: FindingRow): number {
  const placeOf = ({ class: name }: FindingRow) => SEVERITIES.indexOf(weightOf(name));
  return placeOf(one) - placeOf(other) || other.id - one.id;
}

async function listOfAccount(db: Database, filter: Filter): Promise<Listed<Found>> {
  const { account, status, severity, after, limit } = filter;
  if (filter.order !== undefined) return await listOfOrder(db, filter, filter.order);
  const statuses = status === undefined ? STATUSES : [statusOf(status)];
  const classes = await classesOf(db, account, statuses, filter.class);
  const rows: Found[] = [];
  let isCut = false;
  const left = SEVERITIES.slice(after === undefined ? 0 : SEVERITIES.indexOf(after.severity));
  for (const wanted of severity === undefined ? left : [severity]) {
    if (rows.length >= limit) break;
    const ofSeverity = classes.filter(({ name }) => weightOf(name) === wanted);
    const lists = await Array.fromAsync(ofSeverity, (one) => listOfClass(db, filter, one));
    isCut ||= lists.some((list) => list.isCut);
    const found = lists.flatMap((list) => list.rows).toSorted(newestFirst('id'));
    rows.push(...found.slice(0, limit - rows.length));
  }
  return { rows, isCut: isCut && rows.length < limit };
}

const statusOf = (status: NonNullable<Filter['status']>) =>
  status === 'decided' || status === 'undecided' ? 'open' : status;

type StatusAndClass = Readonly<{ status: FindingStatus; name: string }>;

/** Returns the pairs of status and class that have findings. Reads one index entry for each pair. */
async function classesOf(db: Database, account: string, statuses: readonly FindingStatus[], only: string | undefined) {
  if (only !== undefined) return statuses.map((status) => ({ status, name: only }));
  const classes: StatusAndClass[] = [];
  for (const status of statuses) {
    for (let name: string | undefined = ''; ;) {
      const next: RawBuilder<{ class: string }> = sql`select class from findings
        where account = ${account} and status = ${status} and class > ${name} order by class limit 1`;
      name = (await next.execute(db)).rows[0]?.class;
      if (name === undefined) break;
      classes.push({ status, name });
    }
  }
  return classes;
}

export const weightOf = (name: string): Severity => severityOf(name) ?? 'warning';

async function listOfClass(db: Database, filter: Filter, { status, name }: StatusAndClass): Promise<Listed<Found>> {
  const { account, after, limit } = filter;
  const ofClass = allOf(
    sql`account = ${account} and status = ${status} and class = ${name}`,
    after?.severity === weightOf(name) ? sql`id < ${after.id}` : undefined,
  );
  const beyond = await sql<{ id: number }>`select id from findings where ${ofClass}
    order by id desc limit 1 offset ${MOST_READ}`.execute(db);
  const oldest = beyond.rows[0]?.id;
  const { rows } = await sql<Found>`select *, ${IS_DECIDED} as is_decided from findings
    where ${allOf(ofClass, unsearched(filter), oldest === undefined ? undefined : sql`id >= ${oldest}`)}
    order by id desc limit ${limit}`.execute(db);
  return { rows, isCut: oldest !== undefined && rows.length < limit };
}

/** `weightOf` as SQL: the index in `SEVERITIES` of the severity of a row's class. */
const PLACE = sql`case ${sql.join(
  SEVERITIES.map((severity, index) => {
    const names = CLASSES.filter((name) => weightOf(name) === severity).map((name) => sql.lit(name));
    return sql`when class in (${sql.join(names)}) then ${sql.lit(index)}`;
  }),
  sql` `,
)} else ${sql.lit(SEVERITIES.indexOf(weightOf('')))} end`;

async function listOfOrder(db: Database, filter: Filter, order: IdFilter): Promise<Listed<Found>> {
  const { account, class: name, severity, status, after, limit } = filter;
  const conditions = allOf(
    unsearched(filter),
    name === undefined ? undefined : sql`class = ${name}`,
    severity === undefined ? undefined : sql`severity = ${severity}`,
    status === undefined ? undefined : sql`status = ${statusOf(status)}`,
    after && sql`(${PLACE}, -id) > (${SEVERITIES.indexOf(after.severity)}, ${-after.id})`,
  );
  const ofOrder = sql`select * from findings where account = ${account} and ${isLike(order)}`;
  const { rows } = await sql<Found>`select *, ${IS_DECIDED} as is_decided from (${ofOrder} limit ${MOST_READ}) findings
    where ${conditions}
    order by ${PLACE}, id desc limit ${limit}`.execute(db);
  const beyond = await sql`select 1 from (${ofOrder} limit 1 offset ${MOST_READ}) findings`.execute(db);
  return { rows, isCut: beyond.rows.length > 0 };
}

/** Returns the conditions that no index serves. The database reads the order of a finding by the order's key. */
function unsearched({ status, pair, state, from, to }: FindingFilter): RawBuilder<SqlBool> {
  const ofOrder = allOf(
    sql`listed.account = findings.account and listed.external_order_id = findings.external_order_id`,
    state === undefined ? undefined : sql`${unindexed('listed.state')} = ${state}`,
    pair === undefined ? undefined : sql`from_currency = ${pair.from} and to_currency = ${pair.to}`,
  );
  const isOfAny = state === undefined && pair === undefined;
  const order = sql<SqlBool>`exists (select 1 from merchant_orders listed where ${ofOrder})`;
  const part =
    status === 'decided' ? IS_DECIDED : status === 'undecided' ? sql<SqlBool>`not (${IS_DECIDED})` : undefined;
  return allOf(isInPeriod(sql`first_seen_at`, from, to), isOfAny ? undefined : order, part);
}
