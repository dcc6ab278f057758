import { feedEventOf } from '../../domain/events/feed.ts';
import { SEVERITIES, severityOf } from '../../domain/findings/classes.ts';
import { ATTENTION_STATES, ORDER_STATES, type OrderState } from '../../domain/orders/states.ts';
import type { AccountCounts, OpenFindings, Overview } from '../../reports/status/status.ts';
import { storedHolds } from '../account-holds.ts';
import { lostReach, stoppedAccounts } from '../account-stops.ts';
import { newestEvents } from '../feed.ts';
import type { Database } from '../port.ts';
import { compileFor } from '../statement.ts';
import { firstPending, firstUnknown, ordersToDecide } from '../waiting-orders.ts';
import { readWebhooks } from '../webhooks/endpoints.ts';
import { readCounts, sumOf } from './counts.ts';

const MOST_HOLDS = 100;
const NEWEST = 20;

interface OverviewQuery {
  readonly account: string | undefined;
  readonly endpoints: readonly { readonly name: string }[];
  readonly now: Date;
}

export async function readOverview(db: Database, { account, endpoints, now }: OverviewQuery): Promise<Overview> {
  const { accounts, more } = await readCounts(db, account);
  const orders = sumOf(accounts, 'orders');
  const newest = await newestEvents(db, account, NEWEST);
  const holds = storedHolds(account).select('account').orderBy('account').orderBy('kind').limit(MOST_HOLDS);
  return {
    account: account ?? null,
    asOf: now.toISOString(),
    orders: Object.fromEntries(ORDER_STATES.map((state) => [state, orders[state] ?? 0])) as Record<OrderState, number>,
    more,
    oldestPending: (orders['pending'] ?? 0) === 0 ? null : await firstPending(db, account),
    oldestUnknown: await firstUnknown(db, having(accounts, ['unknown'])),
    attention: await ordersToDecide(db, having(accounts, ATTENTION_STATES)),
    findings: openFindings(accounts),
    holds: (await db.executeQuery(compileFor(db, holds))).rows,
    outOfReach: await lostReach(db, account, 'exchange'),
    unreadable: await lostReach(db, account, 'answers'),
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
