import { describe, expect, it } from 'vitest';
import { problem, type Problem } from '../../../../../src/extensions/commands/problem.ts';
import { troublesOf } from '../../../../../src/extensions/health/dashboard/front/troubles.ts';
import type { Overview } from '../../../../../src/extensions/health/status/status.ts';
import { problemsOf } from '../../../../../src/extensions/health/status/problems.ts';
import { overviewOf, readingOf } from '../../../../support/reading.ts';

const heldOrder = (id: string, since: string) => ({
  account: 'default',
  externalOrderId: id,
  state: 'held' as const,
  reason: 'looked up 10 times',
  since,
});
const codesOf = (troubles: readonly Pick<Problem, 'code'>[]) => troubles.map(({ code }) => code);

describe('the problems of the front page', () => {
  it('begin with what stops everything, then come other errors, then warnings', () => {
    const problems = [problem('held', 'h'), problem('unknown', 'u'), problem('out-of-reach', 'o')];
    expect(codesOf(troublesOf(problems, overviewOf()))).toEqual(['out-of-reach', 'held', 'unknown']);
    expect(codesOf(troublesOf([problem('held', 'h'), problem('all-paused', 'p')], overviewOf()))[0]).toBe('held');
  });

  it('are one a state, with the number of its orders and since when the first of them is in it', () => {
    const attention = [heldOrder('b', '2026-03-04T12:00:00.000Z'), heldOrder('a', '2026-03-03T12:00:00.000Z')];
    const overview = overviewOf({ orders: { held: 7 }, attention });
    expect(troublesOf(problemsOf(readingOf({ overview })), overview)).toMatchObject([
      { code: 'held', count: 7, concerned: { state: 'held' }, since: '2026-03-03T12:00:00.000Z', about: {} },
    ]);
  });

  it('are about the new ones of the invalid orders alone', () => {
    const since = '2026-03-04T12:00:00.000Z';
    const overview = overviewOf({ orders: { invalid: 7 }, newInvalid: { orders: 2, since } });
    expect(troublesOf(problemsOf(readingOf({ overview })), overview)).toMatchObject([
      { code: 'invalid', count: 2, concerned: { state: 'invalid', since }, since },
    ]);
  });

  it('name a single order', () => {
    const overview = overviewOf({ orders: { held: 1 }, attention: [heldOrder('a', '2026-03-03T12:00:00.000Z')] });
    expect(troublesOf(problemsOf(readingOf({ overview })), overview)).toMatchObject([
      { text: 'order a is held: looked up 10 times', about: { externalOrderId: 'a' } },
    ]);
  });

  it('are one a class also if they are about several receivers, with a command for all of them', () => {
    const parts = (receiver: string) => ({ about: { receiver }, remedy: `order-sync webhooks show ${receiver}` });
    const problems = ['a', 'b', 'c'].map((name) => problem('dead-letters', `the receiver ${name} fails`, parts(name)));
    expect(troublesOf(problems, overviewOf())).toMatchObject([
      { text: 'the receiver a fails; and 2 more like this', remedy: 'order-sync webhooks list' },
    ]);
  });

  it('are one a class of findings', () => {
    const findings: Overview['findings'] = [
      { class: 'AMOUNT_MISMATCH', severity: 'error', open: 3 },
      { class: 'STUCK', severity: 'warning', open: 2 },
    ];
    const overview = overviewOf({ findings });
    expect(troublesOf(problemsOf(readingOf({ overview })), overview)).toMatchObject([
      { concerned: { class: 'AMOUNT_MISMATCH', status: 'open' }, count: 3 },
      { concerned: { class: 'STUCK', status: 'open' }, count: 2 },
    ]);
  });

  it('tell the orders that wait to be sent once, with the first problem that they wait for', () => {
    const overview = overviewOf({ orders: { pending: 12 } });
    const stops = [problem('out-of-reach', 'o'), problem('key-refused', 'k')];
    expect(troublesOf(stops, overview).map(({ count }) => count)).toEqual([12, 0]);
    expect(troublesOf([problem('creates-paused', 'p')], overview)[0]?.count).toBe(12);
    expect(troublesOf([problem('receiver-fails', 'r')], overview)[0]?.count).toBe(0);
    const told = troublesOf([problem('orders-wait', 'w'), ...stops], overview);
    expect(told.filter(({ count }) => count > 0).map(({ code }) => code)).toEqual(['orders-wait']);
  });

  it('tell waiting orders with no problem of another account alone', () => {
    const hold = { since: '2026-03-04T12:00:00.000Z', until: null, reason: 'r', actor: 'kim' } as const;
    const countsOf = (...paused: readonly string[]) => {
      const overview = overviewOf({
        account: null,
        orders: { pending: 12 },
        accounts: [
          { account: 'a', orders: { final: 1 }, findings: {} },
          { account: 'b', orders: { pending: 12 }, findings: {} },
        ],
        holds: paused.map((account) => ({ ...hold, account, kind: 'creates-paused' })),
      });
      return troublesOf(problemsOf(readingOf({ overview })), overview).map(({ count }) => count);
    };
    expect([countsOf('a'), countsOf('b'), countsOf('a', 'b'), countsOf('a', 'c')]).toEqual([[0], [12], [12], [0]]);
  });
});
