import type { DashboardFacts } from '../../src/extensions/health/dashboard/read-facts.ts';
import { troublesOf } from '../../src/extensions/health/dashboard/front/troubles.ts';
import { problemsOf } from '../../src/extensions/health/status/problems.ts';
import { overviewOf, READ_AT as SHOWN_AT, readingOf, receiverState } from './reading.ts';

/** A dashboard on which something of everything must be seen. */
export function dashboardFacts(changes: Partial<DashboardFacts> = {}): DashboardFacts {
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  const event = { version: 1, account: 'default', timestamp: '2026-03-04T13:37:12.250Z' } as const;
  const change = { exchangeTime: null, source: 'lookup', reason: null, actor: null };
  const waiting = { account: 'default', externalOrderId: 'shop-1', reason: null };
  const part = { position: 'INPUT', unreadable: 0 };
  const overview = overviewOf({
    orders: {
      pending: 12,
      unknown: 2,
      held: 7,
      accepted: 18_412,
      open: 311,
      final: 1_204_331,
      disputed: 1,
      invalid: 100_000,
    },
    more: ['invalid'],
    oldestPending: { ...waiting, state: 'pending', since: '2026-03-04T13:37:02.000Z' },
    oldestUnknown: { ...waiting, state: 'unknown', since: '2026-03-04T09:37:02.000Z' },
    attention: [
      {
        account: 'default',
        externalOrderId: 'shop-1007',
        state: 'held',
        reason: 'looked up 10 times, never found',
        since: '2026-03-03T13:37:42.000Z',
      },
      {
        account: 'default',
        externalOrderId: `<script>alert(1)</script>"'&`,
        state: 'disputed',
        reason: null,
        since: '2026-03-04T12:37:42.000Z',
      },
    ],
    findings: [
      { class: 'AMOUNT_MISMATCH', severity: 'error', open: 3 },
      { class: 'STATUS_UNMAPPED', severity: 'info', open: 10_000 },
    ],
    holds: [
      {
        account: 'default',
        kind: 'creates-paused',
        since: '2026-03-04T13:07:42.000Z',
        until: null,
        reason: 'maintenance at the exchange',
        actor: 'kim',
      },
    ],
    receivers: [receiverState({ oldestWaiting: SHOWN_AT })],
  });
  const newest = Array.from({ length: 25 }, (_, index) => ({
    ...event,
    id: `evt_${index}`,
    cursor: 100 - index,
    type: 'order.state_changed' as const,
    data: {
      externalOrderId: `shop-${2_000 - Math.floor(index / 2)}`,
      field: 'state',
      oldValue: index % 2 === 0 ? 'open' : 'accepted',
      newValue: index % 2 === 0 ? 'final' : 'open',
      ...change,
    },
  }));
  const stake = { amounts: [{ currency: 'BTC', amount: '12.000000012345678901' }], isCut: false };
  const troubles = troublesOf(problemsOf(readingOf({ overview })), overview);
  return {
    at: SHOWN_AT,
    account: 'default',
    accounts: ['default', 'shop-2'],
    range: '24h',
    program: { version: '1.0.0-rc.1', startedAt: '2026-03-04T11:37:42.000Z', exchange: 'sandbox' },
    overview,
    troubles: troubles.map((trouble) => (trouble.concerned === undefined ? trouble : { ...trouble, stake })),
    newest,
    exchange: {
      lastAnswerAt: '2026-03-04T13:37:41.100Z',
      inFlight: 3,
      rate: { spent: 7, requests: 10, intervalMs: 1_000 },
      seenLate: { count: 20_113, p50Ms: 2_400, p99Ms: 19_000 },
      overdue: null,
    },
    database: { bytes: 1_812_000_000, readMs: 31.2 },
    activity: {
      starts: hours.map((hour) => new Date(Date.parse('2026-03-03T14:00:00.000Z') + hour * 3_600_000).toISOString()),
      moves: {
        inserted: hours.map((hour) => 400 + ((hour * 137) % 300)),
        accepted: hours.map((hour) => 380 + ((hour * 149) % 280)),
        final: hours.map((hour) => 300 + ((hour * 113) % 240)),
      },
      movesSince: null,
      moneySince: null,
      money: [
        {
          ...part,
          pair: 'BTC/EUR',
          outcome: 'succeeded',
          orders: 4_012,
          asset: '12.000000012345678901',
          currency: 'BTC',
        },
        {
          ...part,
          pair: 'BTC/EUR',
          outcome: 'open',
          orders: 31,
          asset: '0.5',
          currency: 'BTC',
        },
        {
          ...part,
          pair: 'EUR/BTC',
          outcome: 'failed',
          orders: 2,
          asset: '1500.00',
          currency: 'EUR',
        },
      ],
    },
    ...changes,
  };
}
