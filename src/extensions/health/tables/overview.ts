import { sql, type RawBuilder } from 'kysely';
import { MOST_LISTED } from '../../commands/problem.ts';
import { feedEventOf } from '../../feed/event.ts';
import { SEVERITIES, severityOf } from '../../../findings/rules/classes.ts';
import { DECIDABLE } from '../../operate/rules/decided.ts';
import { ATTENTION_STATES, ORDER_STATES, type OrderState } from '../../../orders/rules/states.ts';
import type { AccountCounts, NamedOrder, OpenFindings, Overview } from '../status/status.ts';
import { stoppedAccounts } from '../../../store/tables/account-stops.ts';
import { indexedBy } from '../../../store/dialect.ts';
import { readNewInvalid } from '../../../store/find-orders.ts';
import { accountsToSend } from '../../../store/orders/due-times.ts';
import { countsOf } from '../../../store/tables/chain.ts';
import { hasDecision } from '../../operate/tables/decided-findings.ts';
import { newestEvents } from '../../feed/tables/events.ts';
import type { Database } from '../../../store/port.ts';
import { sumOf } from '../../../base/words.ts';
import type { Config } from '../../../settings/config.ts';
import { webhooksSettings } from '../../webhooks/settings.ts';
import { readWebhooks } from '../../webhooks/tables/endpoints.ts';
import { storedHolds, lostReach } from '../../reports/tables/story.ts';
import { countOfOthers } from '../../operate/tables/listed-orders.ts';

const NEWEST = 20;
const MOST_SEARCHES = 100;

interface OverviewQuery {
  readonly account: string | undefined;
  readonly endpoints: readonly { readonly name: string }[];
  readonly now: Date;
  readonly drivenAccounts?: readonly { readonly name: string }[];
}

export async function overviewFor(db: Database, config: Config, account: string | undefined, now: Date) {
  const { endpoints } = webhooksSettings.of(config).webhooks;
  return await readOverview(db, { account, endpoints, drivenAccounts: config.accounts, now });
}

export async function readOverview(db: Database, query: OverviewQuery): Promise<Overview> {
  const { account, endpoints, now, drivenAccounts } = query;
  const { accounts, more } = await readCounts(db, account);
  const orders = sumsOf(accounts, 'orders');
  const newest = await newestEvents(db, account, NEWEST);
  return {
    account: account ?? null,
    asOf: now.toISOString(),
    orders: Object.fromEntries(ORDER_STATES.map((state) => [state, orders[state] ?? 0])) as Record<OrderState, number>,
    more,
    oldestPending: (orders['pending'] ?? 0) === 0 ? null : await firstPending(db, account),
    oldestUnknown: await firstUnknown(db, having(accounts, ['unknown'])),
    newInvalid: await readNewInvalid(db, having(accounts, ['invalid']).slice(0, MOST_ACCOUNTS), now),
    attention: await ordersToDecide(db, having(accounts, ATTENTION_STATES)),
    findings: await openFindings(db, accounts),
    holds: await holdsOfEachKind(db, account),
    outOfReach: await lostReach(db, account, 'exchange'),
    unreadable: await lostReach(db, account, 'answers'),
    stopped: [...(await stoppedAccounts(db, account))],
    otherAccounts: drivenAccounts === undefined ? [] : await countOfOthers(db, drivenAccounts),
    receivers: await readWebhooks(db, endpoints),
    lastEventAt: newest[0]?.observed_at ?? null,
    newest: newest.map(feedEventOf),
    accounts,
  };
}

/** Reads `MOST_LISTED` holds of each kind, so that many holds of one kind hide no other kind. */
async function holdsOfEachKind(db: Database, account: string | undefined): Promise<Overview['holds']> {
  const place = sql<number>`row_number() over (partition by kind order by account)`.as('place');
  const { rows } = await sql<Overview['holds'][number]>`select account, kind, since, until, reason, actor
    from ${storedHolds(account).select(['account', place])} as holds where place <= ${MOST_LISTED}
    order by account, kind`.execute(db);
  return rows;
}

function having(accounts: readonly AccountCounts[], states: readonly OrderState[]): readonly string[] {
  return accounts.filter(({ orders }) => states.some((state) => orders[state] !== undefined)).map((one) => one.account);
}

/** Of a class and account, at most this many open findings are read, the oldest first. The rest count as undecided. */
const MOST_JUDGED = 1_000;

/** Counts decided findings, and dates the oldest undecided one. Reads `MOST_SEARCHES` classes of accounts at most. */
async function openFindings(db: Database, accounts: readonly AccountCounts[]): Promise<OpenFindings[]> {
  const classes = accounts.flatMap(({ account, findings }) => Object.keys(findings).map((name) => ({ account, name })));
  const isDecidable = ({ name }: { readonly name: string }) => DECIDABLE.includes(name);
  const isCut = classes.length > MOST_SEARCHES;
  const searches = (isCut ? classes.filter(isDecidable).slice(0, MOST_SEARCHES) : classes).map((one) => {
    const few = sql`select * from findings ${indexedBy('findings_open')}
      where account = ${one.account} and status = 'open' and class = ${one.name} order by id limit ${isDecidable(one) ? MOST_JUDGED : 1}`;
    return sql`select class, first_seen_at, ${hasDecision('few')} as is_decided from (${few}) as few`;
  });
  const judge = sql<{ name: string; decided: number; since: string | null }>`select class as name,
      count(case when is_decided then 1 end) as decided, min(case when not is_decided then first_seen_at end) as since
    from (${sql.join(searches, sql` union all `)}) as judged group by class`;
  const judged = searches.length === 0 ? [] : (await judge.execute(db)).rows;
  return Object.entries(sumsOf(accounts, 'findings'))
    .map(([name, open]): OpenFindings => {
      const { decided, since } = judged.find((one) => one.name === name) ?? {};
      const known = { decided: decided || undefined, since: isCut ? undefined : (since ?? undefined) };
      return { class: name, severity: severityOf(name) ?? 'warning', open, ...known };
    })
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.open - a.open);
}

/** At most this many pending orders, and this many invalid orders, are counted in all accounts together. */
const MOST_COUNTED = 100_000;

/** Reads the counts in `event_heads`. Counts pending and invalid rows anew, because merchants delete rows. */
async function readCounts(db: Database, account: string | undefined) {
  let query = db.selectFrom('event_heads').select(['account', 'counts']);
  if (account !== undefined) query = query.where('account', '=', account);
  const heads = (await query.execute()).map((head) => ({ account: head.account, ...countsOf(head.counts) }));
  const pending = await countPending(db, account);
  // Each change to invalid is an event, so an account whose head counts none has no invalid rows.
  const withInvalid = heads.filter(({ orders }) => (orders['invalid'] ?? 0) > 0).map((head) => head.account);
  const invalid = await countInvalid(db, withInvalid);
  const isFull = (found: Counted) => sumOf([...found.values()], (orders) => orders) >= MOST_COUNTED;
  const known = new Map(heads.map((head) => [head.account, head]));
  const names = new Set([...known.keys(), ...pending.keys()]);
  const accounts = [...names].toSorted().map((name): AccountCounts => {
    const { orders = {}, findings = {} } = known.get(name) ?? {};
    const all = { ...orders, pending: pending.get(name) ?? 0, invalid: invalid.get(name) ?? 0 };
    return { account: name, orders: positive(all), findings: positive(findings) };
  });
  const full = Object.entries({ pending, invalid }).filter(([, found]) => isFull(found));
  return { accounts, more: full.map(([state]) => state as OrderState) };
}

function sumsOf(accounts: readonly AccountCounts[], what: 'orders' | 'findings'): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const counts of accounts)
    for (const [name, count] of Object.entries(counts[what])) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

type Counted = ReadonlyMap<string, number>;

async function countPending(db: Database, account: string | undefined): Promise<Counted> {
  const ofAccount = account === undefined ? sql`` : sql`and account = ${account}`;
  // `order by` follows the index of pending orders, so that the database uses no other index.
  const pending = sql`select account from merchant_orders ${indexedBy('merchant_orders_pending')}
    where state = 'pending' ${ofAccount} order by account, next_action_at, external_order_id limit ${MOST_COUNTED}`;
  return await countBy(db, 'account', pending);
}

async function countInvalid(db: Database, accounts: readonly string[]): Promise<Counted> {
  if (accounts.length === 0) return new Map();
  const invalid = sql`select account from merchant_orders ${indexedBy('merchant_orders_due')}
    where account in (${sql.join(accounts.slice(0, MOST_ACCOUNTS))}) and state = 'invalid' limit ${MOST_COUNTED}`;
  return await countBy(db, 'account', invalid);
}

export async function countBy(db: Database, column: string, rows: RawBuilder<unknown>): Promise<Counted> {
  const counts = sql<{ name: string; orders: number }>`
    select ${sql.ref(column)} as name, count(*) as orders from (${rows}) as found group by ${sql.ref(column)}`;
  return new Map((await counts.execute(db)).rows.map(({ name, orders }) => [name, orders]));
}

/** Omits counts of 0 and below. A count is below 0 if another program wrote a state without an event. */
function positive(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

const MOST_NAMED = 10;
const MOST_LOOKED_AT = 10_000;
const MOST_ACCOUNTS = 1_000;

async function firstPending(db: Database, account: string | undefined): Promise<NamedOrder | null> {
  const first = account ?? (await accountToSendFirst(db));
  if (first === undefined) return null;
  const { rows } = await sql<NamedOrder>`select account, external_order_id as "externalOrderId", state_reason as reason,
      state, next_action_at as since
    from merchant_orders where account = ${first} and state = 'pending' and next_action_at is not null
    order by next_action_at limit 1`.execute(db);
  return rows[0] ?? null;
}

async function accountToSendFirst(db: Database): Promise<string | undefined> {
  let first: readonly [account: string, at: number] | undefined;
  for (let after: string | undefined = ''; after !== undefined;) {
    const { due, next } = await accountsToSend(db, after);
    for (const one of due) if (first === undefined || one[1] < first[1]) first = one;
    after = next;
  }
  return first?.[0];
}

async function firstUnknown(db: Database, accounts: readonly string[]): Promise<NamedOrder | null> {
  const first = sql`select * from (${ofState('unknown', accounts, MOST_LOOKED_AT)}) as unknown_orders
    order by coalesce(sent_at, updated_at) limit 1`;
  return (await named(db, 'unknown', accounts, first))[0] ?? null;
}

async function ordersToDecide(db: Database, accounts: readonly string[]): Promise<NamedOrder[]> {
  const ofAll = await Array.fromAsync(ATTENTION_STATES, (state) =>
    named(db, state, accounts, ofState(state, accounts, MOST_NAMED)),
  );
  return ofAll.flat();
}

function ofState(state: OrderState, accounts: readonly string[], limit: number) {
  return sql`select account, external_order_id, state_reason, sent_at, updated_at
    from merchant_orders ${indexedBy('merchant_orders_due')}
    where account in (${sql.join(accounts.slice(0, MOST_ACCOUNTS))}) and state = ${sql.lit(state)} limit ${limit}`;
}

/** Reads when each row of `few` entered `state`: the time of its newest change of state, else `updated_at`. */
async function named(db: Database, state: OrderState, accounts: readonly string[], few: RawBuilder<unknown>) {
  if (accounts.length === 0) return [];
  const began = sql`select observed_at from events where events.account = few.account and type = 'order'
    and subject = external_order_id and field = 'state' order by id desc limit 1`;
  const { rows } = await sql<NamedOrder>`with few as materialized (${few})
    select account, external_order_id as "externalOrderId", ${sql.lit(state)} as state, state_reason as reason,
      coalesce((${began}), updated_at) as since from few`.execute(db);
  return rows;
}
