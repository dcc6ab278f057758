import { viewOf, type HoldKind, type HoldView } from '../../domain/accounts/holds.ts';
import { feedEventOf, type FeedEvent } from '../../domain/events/feed.ts';
import { FINDING_CLASSES, SEVERITIES, type Severity } from '../../domain/findings/classes.ts';
import { ATTENTION_STATES, ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import type { Database } from '../port.ts';
import { readCounts, sumOf, type AccountCounts } from './counts.ts';
import { newestEvents } from './newest.ts';
import { firstPending, firstUnknown, ordersToDecide, type NamedOrder } from './orders.ts';
import { outOfReach, type LostReach } from './reach.ts';

/** So many holds, accounts and events are shown at the most. */
const MOST_HOLDS = 100;
const NEWEST = 20;

/** An account that is held. */
export interface AccountHold extends HoldView {
  readonly account: string;
}

/** Open findings of a class. */
export interface OpenFindings {
  readonly class: string;
  /** Of a class of another version: a warning. */
  readonly severity: Severity;
  readonly open: number;
}

/** How the orders of an account, or of all, are: read in a moment, however many there are. */
export interface Overview {
  /** Null where it is of all accounts. */
  readonly account: string | null;
  readonly asOf: string;
  readonly orders: Readonly<Record<OrderState, number>>;
  /** The states of which there are more orders than were counted. */
  readonly more: readonly OrderState[];
  /** The order whose time to be sent came first. */
  readonly oldestPending: NamedOrder | null;
  /** The order whose outcome is unknown for the longest time: since it was sent. */
  readonly oldestUnknown: NamedOrder | null;
  /** A few of the orders that wait for a person, the held ones first. */
  readonly attention: readonly NamedOrder[];
  /** The worst first. */
  readonly findings: readonly OpenFindings[];
  readonly holds: readonly AccountHold[];
  /** Accounts of which the exchange is out of reach, as was last recorded. */
  readonly outOfReach: readonly LostReach[];
  readonly lastEventAt: string | null;
  /** The newest events, the newest first. */
  readonly newest: readonly FeedEvent[];
  /** What each account has, in the order of their names. */
  readonly accounts: readonly AccountCounts[];
}

/** Reads the overview of one account, or of all where none is named: in a few statements, whatever their number. */
export async function readOverview(
  db: Database,
  { account, now }: { readonly account: string | undefined; readonly now: Date },
): Promise<Overview> {
  const { accounts, more } = await readCounts(db, account);
  const orders = sumOf(accounts, 'orders');
  const newest = await newestEvents(db, account, NEWEST);
  return {
    account: account ?? null,
    asOf: now.toISOString(),
    orders: Object.fromEntries(ORDER_STATES.map((state) => [state, orders[state] ?? 0])) as Record<OrderState, number>,
    more,
    oldestPending: (orders['pending'] ?? 0) === 0 ? null : await firstPending(db, account),
    oldestUnknown: await firstUnknown(db, having(accounts, ['unknown'])),
    attention: await ordersToDecide(db, having(accounts, ATTENTION_STATES)),
    findings: openFindings(accounts),
    holds: await readAllHolds(db, account),
    outOfReach: await outOfReach(db, account),
    lastEventAt: newest[0]?.observed_at ?? null,
    newest: newest.map(feedEventOf),
    accounts,
  };
}

function having(accounts: readonly AccountCounts[], states: readonly OrderState[]): readonly string[] {
  return accounts.filter(({ orders }) => states.some((state) => orders[state] !== undefined)).map((one) => one.account);
}

function openFindings(accounts: readonly AccountCounts[]): readonly OpenFindings[] {
  const classes: Readonly<Record<string, { readonly severity: Severity } | undefined>> = FINDING_CLASSES;
  const severityOf = (name: string) =>
    (Object.hasOwn(FINDING_CLASSES, name) ? classes[name]?.severity : undefined) ?? 'warning';
  return Object.entries(sumOf(accounts, 'findings'))
    .map(([name, open]) => ({ class: name, severity: severityOf(name), open }))
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.open - a.open);
}

async function readAllHolds(db: Database, account: string | undefined): Promise<readonly AccountHold[]> {
  const holds = db.selectFrom('account_holds').selectAll().orderBy('account').orderBy('kind').limit(MOST_HOLDS);
  const rows = await (account === undefined ? holds : holds.where('account', '=', account)).execute();
  return rows.map(({ account: name, kind, since, until, reason, actor }) => {
    const hold = { kind: kind as HoldKind, since: new Date(since), until: until === null ? null : new Date(until) };
    return { account: name, ...viewOf({ ...hold, reason, actor }) };
  });
}
