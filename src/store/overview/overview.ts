import { viewOf, type HoldKind } from '../../domain/accounts/holds.ts';
import { feedEventOf } from '../../domain/events/feed.ts';
import { SEVERITIES, severityOf } from '../../domain/findings/classes.ts';
import { ATTENTION_STATES, ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import type { AccountCounts, AccountHold, OpenFindings, Overview } from '../../reports/status/status.ts';
import type { Database } from '../port.ts';
import { readWebhooks } from '../webhooks/state.ts';
import { readCounts, sumOf } from './counts.ts';
import { newestEvents } from './newest.ts';
import { firstPending, firstUnknown, ordersToDecide } from './orders.ts';
import { outOfReach, stoppedAccounts, unreadableAnswers } from './reach.ts';

/** So many holds, accounts and events are shown at the most. */
const MOST_HOLDS = 100;
const NEWEST = 20;

/** What an overview is of: one account, or all where none is named, and the receivers of the settings. */
interface OverviewQuery {
  readonly account: string | undefined;
  readonly endpoints: readonly { readonly name: string }[];
  readonly now: Date;
}

/** Reads an overview: in a few statements, however many accounts there are. */
export async function readOverview(db: Database, { account, endpoints, now }: OverviewQuery): Promise<Overview> {
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
    unreadable: await unreadableAnswers(db, account),
    stopped: await stoppedAccounts(db, account),
    receivers: await readWebhooks(db, endpoints),
    lastEventAt: newest[0]?.observed_at ?? null,
    newest: newest.map(feedEventOf),
    accounts,
  };
}

function having(accounts: readonly AccountCounts[], states: readonly OrderState[]): readonly string[] {
  return accounts.filter(({ orders }) => states.some((state) => orders[state] !== undefined)).map((one) => one.account);
}

function openFindings(accounts: readonly AccountCounts[]): readonly OpenFindings[] {
  return Object.entries(sumOf(accounts, 'findings'))
    .map(([name, open]) => ({ class: name, severity: severityOf(name) ?? 'warning', open }))
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
