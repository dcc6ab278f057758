import { describe, expect, it } from 'vitest';
import { problemText } from '../../../../src/extensions/operate/rules/problems.ts';
import { PLAIN } from '../../../../src/extensions/documents/terminal.ts';
import { readinessChecks } from '../../../../src/extensions/health/ops/readiness.ts';
import { verdictSection } from '../../../../src/extensions/health/dashboard/front/problems.ts';
import { troublesOf } from '../../../../src/extensions/health/dashboard/front/troubles.ts';
import { printable } from '../../../../src/base/words.ts';
import {
  LEAST_FREE_BYTES,
  problemsOf,
  STALLED_AFTER_MS,
  judgeStatus,
} from '../../../../src/extensions/health/status/problems.ts';
import type { Reading, Status } from '../../../../src/extensions/health/status/status.ts';
import { statusText } from '../../../../src/extensions/health/status/text.ts';
import { dashboardFacts } from '../../../support/dashboard-facts.ts';
import { liveStatus, overviewOf, processFacts, readingOf, READ_AT, receiverState } from '../../../support/reading.ts';

const ago = (ms: number) => new Date(Date.parse(READ_AT) - ms).toISOString();
const MINUTE = 60_000;
const SINCE = ago(20 * MINUTE);
const hold = { account: 'default', since: SINCE, until: null, reason: 'r', actor: null } as const;
const trouble = { account: 'default', since: SINCE, reason: 'ECONNREFUSED' } as const;
const waits = (ms: number) => [{ pass: 'create', wantedSince: ago(ms), runningSince: null, goodAt: null }];
const order = { account: 'default', externalOrderId: 'a b', reason: null, since: SINCE };
const daemon = { unwritten: null, opsFailure: null, accounts: [] };
const of = (changes: Parameters<typeof overviewOf>[0]) => ({ overview: overviewOf(changes) });
const held = { ...order, state: 'held' } as const;
const disputed = { ...order, state: 'disputed', reason: 'another pair' } as const;

/** Each problem alone: its code, what shows it, the remedy, and a part of its text. */
const CASES: readonly (readonly [code: string, changes: Partial<Reading>, remedy: string, text: string])[] = [
  [
    'disputed',
    of({ orders: { disputed: 1 }, attention: [disputed] }),
    "order-sync orders explain 'a b'",
    'another pair',
  ],
  ['held', of({ orders: { held: 1 }, attention: [held] }), "order-sync orders explain 'a b'", 'order a b is held'],
  ['held', of({ orders: { held: 2_000 } }), 'order-sync orders list --state held', '2,000 orders are held'],
  [
    'finding',
    of({ findings: [{ class: 'AMOUNT_MISMATCH', severity: 'error', open: 3 }] }),
    'order-sync findings list --class AMOUNT_MISMATCH',
    '3 open findings AMOUNT_MISMATCH: ',
  ],
  [
    'finding',
    of({ findings: [{ class: 'OF_ANOTHER_VERSION', severity: 'warning', open: 1 }] }),
    'order-sync findings list --class OF_ANOTHER_VERSION',
    '1 open finding OF_ANOTHER_VERSION',
  ],
  ['older-state', { olderState: 'is older' }, 'order-sync db accept-restore', 'the database is older'],
  ['stopped', of({ stopped: [{ ...trouble, kind: 'older-state' }] }), 'order-sync db accept-restore', 'stopped'],
  ['stopped', of({ stopped: [{ ...trouble, kind: 'wrong-settings' }] }), 'order-sync config check', 'ECONNREFUSED'],
  ['stopped', of({ stopped: [{ ...trouble, kind: 'of another version' }] }), 'order-sync doctor', 'stopped'],
  [
    'database-unreadable',
    { overview: null, process: processFacts({ databaseFailure: 'it is locked' }) },
    'check',
    'locked',
  ],
  ['database-unwritten', { daemon: { ...daemon, unwritten: 'the disk is full' } }, 'order-sync doctor', 'is full'],
  [
    'database-unwritten',
    {
      daemon: {
        ...daemon,
        unwritten: 'no; try again',
        accounts: [liveStatus({ unwritten: 'no; try again' }), liveStatus()],
      },
    },
    'try again',
    'no requests are sent: no',
  ],
  [
    'other-migrations',
    { process: processFacts({ missingMigrations: ['0008_a', '0009_b'] }) },
    'start',
    '0008_a, 0009_b',
  ],
  ['key-refused', of({ holds: [{ ...hold, kind: 'key-refused' }] }), 'put the right key', 'refuses the key: r'],
  ['out-of-reach', of({ outOfReach: [trouble] }), 'order-sync doctor', 'ECONNREFUSED'],
  ['forbidden', of({ holds: [{ ...hold, kind: 'forbidden' }] }), 'ask the exchange', 'does not let'],
  ['guarded', of({ holds: [{ ...hold, kind: 'guarded' }] }), 'order-sync resume --reason TEXT', 'guard.*'],
  ['slowed', of({ holds: [{ ...hold, kind: 'slowed' }] }), 'order-sync resume --reason TEXT', 'created slowly'],
  ['restored', of({ holds: [{ ...hold, kind: 'restored' }] }), 'order-sync resume --reason TEXT', 'put back'],
  ['not-owner', { process: processFacts({ isOwner: false }) }, 'wait', 'does not own'],
  ['lease-lost', { daemon: { ...daemon, accounts: [liveStatus({ isTrusted: false })] } }, 'check that', 'lease'],
  [
    'stalled',
    {
      daemon: {
        ...daemon,
        accounts: [liveStatus({ answeredAt: ago(STALLED_AFTER_MS + 1), passes: waits(STALLED_AFTER_MS + 2) })],
      },
      ...of({ outOfReach: [] }),
    },
    'restart the daemon',
    '10 min',
  ],
  ['disk-full', { process: processFacts({ freeBytes: LEAST_FREE_BYTES - 1 }) }, 'free space', '255 MiB'],
  ['stopping', { process: processFacts({ isStopping: true }) }, 'start', 'is stopping'],
  [
    'other-accounts',
    of({ otherAccounts: [{ account: 'defualt\u202e', orders: 1_200 }] }),
    'the column account',
    '1,200 rows are neither sent nor followed: the settings do not name the account "defualt',
  ],
  [
    'decided',
    of({ findings: [{ class: 'AMOUNT_MISMATCH', severity: 'error', open: 2, decided: 2 }] }),
    'order-sync findings ack --class AMOUNT_MISMATCH --decided --reason TEXT',
    '2 open findings AMOUNT_MISMATCH: a person has decided',
  ],
  [
    'unknown',
    of({ orders: { unknown: 2 }, oldestUnknown: { ...order, state: 'unknown' } }),
    'order-sync orders list --state unknown',
    '2 orders have unknown outcomes',
  ],
  [
    'invalid',
    of({ orders: { invalid: 9 }, newInvalid: { orders: 2, since: SINCE } }),
    'order-sync orders list --state invalid',
    '2 new orders are invalid',
  ],
  [
    'settings-changed',
    { daemon: { ...daemon, changedSettings: 'shop.yaml' } },
    'restart the daemon',
    'shop.yaml changed',
  ],
  [
    'kept-back',
    {
      daemon: {
        ...daemon,
        accounts: [liveStatus({ keptBack: [{ externalOrderId: 'a b', since: SINCE, cause: 'not today' }] })],
      },
    },
    'check the row',
    'not today',
  ],
  ['no-daemon', { daemon: null, ...of({ orders: { pending: 1 } }) }, 'order-sync run', '1 order is waiting'],
  [
    'silent-owner',
    { daemon: null, driver: 'process 7', ...of({ orders: { open: 2 } }) },
    'wait for its end',
    'process 7',
  ],
  ['unreadable', of({ unreadable: [trouble] }), 'order-sync probe', 'cannot be read: ECONNREFUSED'],
  ['all-paused', of({ holds: [{ ...hold, kind: 'all-paused', actor: 'kim' }] }), 'order-sync resume', 'by kim: r'],
  ['creates-paused', of({ holds: [{ ...hold, kind: 'creates-paused' }] }), 'order-sync resume', 'paused: r'],
  [
    'orders-wait',
    of({ orders: { pending: 1 }, oldestPending: { ...order, state: 'pending', since: ago(5 * MINUTE + 1) } }),
    'order-sync orders list --state pending',
    'orders are waiting to be sent',
  ],
  [
    'pass-waits',
    { daemon: { ...daemon, accounts: [liveStatus({ passes: waits(5 * MINUTE + 1) })] } },
    "the daemon's log",
    'no create pass',
  ],
  [
    'receiver-fails',
    of({ receivers: [receiverState({ name: 'a b', failingSince: ago(5 * MINUTE + 1), cause: 'it answers 404' })] }),
    'check the path',
    'it answers 404',
  ],
  [
    'receiver-fails',
    of({ receivers: [receiverState({ oldestWaiting: ago(10 * MINUTE + 1) })] }),
    'each worker reaches the receiver',
    'more than 10 min',
  ],
  ['dead-letters', of({ receivers: [receiverState({ deadLetters: 1 })] }), 'order-sync webhooks show', '1 dead letter'],
  [
    'parked',
    of({ receivers: [receiverState({ parked: 2 })] }),
    'order-sync webhooks show shop',
    '2 orders, links or accounts',
  ],
  ['clock', { databaseAheadMs: 2_000 }, 'check the time service', '2 s behind'],
  ['clock', { databaseAheadMs: -2_000 }, 'check the time service', '2 s ahead of'],
  ['ops', { daemon: { ...daemon, opsFailure: 'EADDRINUSE' } }, 'ops.listen', 'EADDRINUSE'],
];

/** The problems of the cases, each as the only one of its reading. */
const alone = (changes: Partial<Reading>) => problemsOf(readingOf(changes)).filter(({ code }) => code !== 'pass-waits');

describe('the list of problems', () => {
  it('is empty if nothing is wrong', () => expect(problemsOf(readingOf())).toEqual([]));

  it.each(CASES)('has %s alone', (code, changes, remedy, text) => {
    const problems = code === 'pass-waits' ? problemsOf(readingOf(changes)) : alone(changes);
    expect(problems).toMatchObject([
      { code, remedy: expect.stringContaining(remedy), text: expect.stringContaining(text) },
    ]);
  });

  it('says "at least" before the number of accounts if the list of holds was cut', () => {
    const holds = Array.from({ length: 100 }, (_, index) => {
      return { ...hold, account: `a${index}`, kind: 'creates-paused' as const, reason: index === 99 ? 'other' : 'r' };
    });
    const textOf = (shown: typeof holds) => problemsOf(readingOf(of({ account: null, holds: shown })))[0]?.text;
    expect(textOf(holds)).toContain('a0, a1, a2 and at least 96 more');
    expect(textOf(holds.slice(0, 99))).toContain('a0, a1, a2 and 96 more');
  });

  it('names each place of a refused key, and who tries it next', () => {
    const holds = ['shop-1', 'shop-2'].map((account) => ({ ...hold, account, kind: 'key-refused' as const }));
    const keyPlaceOf = (account: string) => `/keys/${account}.key`;
    const remedyOf = (changes: Partial<Reading>) =>
      problemsOf(readingOf({ ...of({ account: null, holds }), keyPlaceOf, ...changes }))[0]?.remedy;
    expect(remedyOf({})).toContain('/keys/shop-1.key, /keys/shop-2.key');
    expect(remedyOf({ keyPlaceOf: () => '/keys/all.key' })).toContain(' /keys/all.key:');
    expect(remedyOf({ daemon: null })).not.toBe(remedyOf({}));
  });

  it.each<readonly [string, Partial<Reading>]>([
    ['a wait for the rate', of({ holds: [{ ...hold, kind: 'rate-limited' }] })],
    ['a finding that only explains', of({ findings: [{ class: 'STATUS_UNMAPPED', severity: 'info', open: 1 }] })],
    [
      'orders that wait for five minutes',
      of({ oldestPending: { ...order, state: 'pending', since: ago(5 * MINUTE) } }),
    ],
    [
      'orders that a pause keeps back, but the pause',
      of({
        holds: [{ ...hold, kind: 'rate-limited' }],
        oldestPending: { ...order, state: 'pending', since: SINCE },
      }),
    ],
    ['a receiver that fails for five minutes', of({ receivers: [receiverState({ failingSince: ago(5 * MINUTE) })] })],
    ['events that wait for ten minutes', of({ receivers: [receiverState({ oldestWaiting: ago(10 * MINUTE) })] })],
    ['no daemon while nothing waits', { daemon: null, ...of({ orders: { final: 9 } }) }],
    ['clocks that differ by little', { databaseAheadMs: 1_999 }],
    ['a disk that cannot be asked', { process: processFacts({ freeBytes: null }) }],
    ['work that was answered meanwhile', { daemon: { ...daemon, accounts: [liveStatus({ passes: waits(1) })] } }],
  ])('does not have %s', (_name, changes) => expect(problemsOf(readingOf(changes))).toEqual([]));

  it('puts the worst first, by the money that it concerns', () => {
    const codes = CASES.map(([code]) => code);
    const all = readingOf({
      ...of({
        orders: { held: 1, disputed: 1, unknown: 1 },
        newInvalid: { orders: 1, since: SINCE },
        holds: (['creates-paused', 'all-paused', 'key-refused', 'forbidden'] as const).map((kind) => ({
          ...hold,
          kind,
        })),
        findings: [
          { class: 'STUCK', severity: 'warning', open: 1 },
          { class: 'AMOUNT_MISMATCH', severity: 'error', open: 3, decided: 2 },
        ],
        otherAccounts: [{ account: 'x', orders: 1 }],
        outOfReach: [trouble],
        unreadable: [trouble],
        stopped: [{ ...trouble, kind: 'has-failed' }],
        receivers: [receiverState({ failingSince: SINCE, parked: 1, deadLetters: 1 })],
      }),
      daemon: { ...daemon, unwritten: 'w', opsFailure: 'o' },
      databaseAheadMs: 9_000,
    });
    const problems = problemsOf(all);
    expect(problems.map(({ code }) => code)).toEqual([
      'disputed',
      'held',
      'finding',
      'stopped',
      'database-unwritten',
      'key-refused',
      'out-of-reach',
      'forbidden',
      'finding',
      'other-accounts',
      'unknown',
      'invalid',
      'unreadable',
      'all-paused',
      'creates-paused',
      'receiver-fails',
      'dead-letters',
      'parked',
      'clock',
      'ops',
      'decided',
    ]);
    expect(problems.map(({ severity }) => severity).lastIndexOf('error')).toBe(7);
    expect(new Set(codes).size).toBeGreaterThan(30);
  });

  it('names the first accounts of many in one problem, and the one that was asked for by nothing', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const outOfReach = names.map((account) => ({ ...trouble, account }));
    const [many] = problemsOf(readingOf(of({ account: null, outOfReach })));
    expect(many).toMatchObject({ about: {}, remedy: 'order-sync doctor --account all' });
    expect(many?.text).toContain('for a, b, c and 2 more: ECONNREFUSED');
    const [single] = problemsOf(readingOf(of({ account: null, outOfReach: outOfReach.slice(0, 1) })));
    expect(single).toMatchObject({ about: { account: 'a' }, since: SINCE, remedy: 'order-sync doctor --account a' });
    expect(problemsOf(readingOf(of({ outOfReach: [trouble] })))[0]?.text).not.toContain('default');
  });

  it('names five orders of a state, and counts the others', () => {
    const attention = [1, 2, 3, 4, 5, 6].map((number) => ({ ...held, externalOrderId: `o${number}` }));
    const problems = problemsOf(readingOf(of({ orders: { held: 7 }, attention })));
    expect(problems).toHaveLength(6);
    expect(problems.at(-1)).toMatchObject({ text: '2 more orders are held', about: { account: 'default' } });
  });

  it('leaves out a stop for an older state that the mark shows', () => {
    const reading = readingOf({ olderState: 'is older', ...of({ stopped: [{ ...trouble, kind: 'older-state' }] }) });
    expect(problemsOf(reading).map(({ code }) => code)).toEqual(['older-state']);
  });
});

describe('every surface', () => {
  it.each(CASES)('says %s in the same words', (_code, changes) => {
    const reading = readingOf(changes);
    const [problem] = problemsOf(reading);
    if (problem === undefined) throw new Error('there is no problem');
    const sentence = printable(problemText(problem));
    const { code, text, remedy } = problem;
    expect(judgeStatus(reading).reasons[0]).toMatchObject({ code, text, remedy });
    const troubles = troublesOf([problem], reading.overview ?? overviewOf());
    const page = verdictSection(dashboardFacts({ troubles }))
      .replaceAll(/<\/?span[^>]*>/g, '')
      .replaceAll(/&#(\d+);/g, (_all, number: string) => String.fromCodePoint(Number(number)));
    expect(page.toLowerCase()).toContain(printable(text).toLowerCase());
    // Orders and findings have a list, which the page leads to.
    const isListed = /href="\/(orders|findings)[^"]*">See/.test(page);
    if (!isListed) expect(page.toLowerCase()).toContain(remedy.toLowerCase());
    const failed = readinessChecks([problem]).filter(({ ok }) => !ok);
    for (const { reason } of failed) expect(reason).toBe(`${sentence}; ${remedy}`);
    if (reading.overview === null || reading.daemon !== null) return;
    const shown = statusText({ ...reading, database: 'd' } as Status, PLAIN);
    expect(shown).toContain(sentence);
  });

  it('is first that no daemon answers: an outage that the last daemon recorded may be over', () => {
    const reading = readingOf({ daemon: null, ...of({ orders: { pending: 1 }, outOfReach: [trouble] }) });
    expect(judgeStatus(reading).reasons.map(({ code }) => code)).toEqual(['no-daemon', 'out-of-reach']);
  });
});

it('a status does not deny outages that are over, and of circuit breakers only if one is not closed', () => {
  const shownOf = (accounts: Parameters<typeof liveStatus>[0]) => {
    const process = { pid: 1, version: '1', startedAt: READ_AT, owned: 1, driven: 1 };
    const rates = { rate: { spent: 0, requests: 1, intervalMs: 1 }, seenLate: { count: 0, p50Ms: 0, p99Ms: 0 } };
    const live = { ...daemon, ...process, ...rates, overdue: null, accounts: [liveStatus(accounts)] };
    return statusText({ ...readingOf(), overview: overviewOf(), daemon: live, database: 'd' }, PLAIN);
  };
  expect(shownOf({})).not.toMatch(/recorded|blocked|after failures/);
  expect(shownOf({})).toMatch(/^exchange +no outage now$/m);
  expect(shownOf({ keyUntriedSince: READ_AT })).toMatch(new RegExp(`^exchange .*key .*${READ_AT}`, 'm'));
  expect(shownOf({ breakers: { create: 'open', lookup: 'closed' } })).toMatch(/after failures +.*creates of default$/m);
});

it('a status says once of disputed orders not to pay, and of an outage that it ends by itself', () => {
  const attention = ['a', 'b'].map((externalOrderId) => {
    return { account: 'default', externalOrderId, state: 'disputed', reason: 'r', since: READ_AT } as const;
  });
  const findings = (['CREATE_UNKNOWN', 'ORDER_VANISHED'] as const).map((name) => {
    return { class: name, severity: 'error', open: 3 } as const;
  });
  const overview = overviewOf({ attention, findings, outOfReach: [trouble], orders: { disputed: 2, unknown: 3 } });
  const shown = statusText({ ...readingOf(), overview, daemon: null, database: 'd' }, PLAIN);
  for (const hint of ['Do not pay', 'continues by itself', 'also counted', 'still looks it up'])
    expect(shown.split(hint)).toHaveLength(2);
});

it('the headline of a status denies no receiver that fails, nor its exchange a key that is refused', () => {
  const receivers = [receiverState({ failingSince: ago(MINUTE), cause: 'it does not answer: ECONNREFUSED' })];
  const holds = [{ ...hold, kind: 'key-refused' as const }];
  const shownOf = (overview: Parameters<typeof overviewOf>[0]) => {
    const reading = { ...readingOf(), overview: overviewOf(overview), daemon: null, database: 'd' };
    return statusText(reading, PLAIN);
  };
  expect(shownOf({})).toMatch(/^All is well/);
  expect(shownOf({ receivers })).not.toContain('All is well');
  expect(shownOf({ holds })).not.toMatch(/^exchange .*no outage/m);
});

it('the next try of a hold is shown while it is to come', () => {
  const triesAt = [ago(1), ago(-MINUTE)];
  const holds = triesAt.map((until) => ({ ...hold, kind: 'key-refused' as const, until }));
  const reading = { ...readingOf(), overview: overviewOf({ holds }), daemon: null, database: 'd' };
  const shown = statusText(reading, PLAIN);
  expect(triesAt.map((at) => shown.includes(at))).toEqual([false, true]);
});

describe('readiness', () => {
  it.each([
    ['process', 'stopping'],
    ['database', 'database-unreadable'],
    ['database', 'database-unwritten'],
    ['migrations', 'other-migrations'],
    ['ownership', 'not-owner'],
    ['ownership', 'lease-lost'],
    ['stopped', 'stopped'],
    ['exchange', 'out-of-reach'],
    ['key', 'key-refused'],
    ['passes', 'stalled'],
    ['disk', 'disk-full'],
  ])('fails the check %s by %s alone', (check, code) => {
    const [, changes = {}] = CASES.find(([name]) => name === code) ?? [];
    const failed = readinessChecks(problemsOf(readingOf(changes))).filter(({ ok }) => !ok);
    expect(failed.map((one) => one.check)).toEqual([check]);
  });

  it('has a check of every kind, and no reason if nothing is wrong', () => {
    const checks = readinessChecks([]);
    expect(checks.map(({ check }) => check)).toEqual(
      'process database migrations ownership stopped exchange key passes disk'.split(' '),
    );
    for (const check of checks) expect(Object.keys(check)).toEqual(['check', 'ok']);
  });

  it('fails no check by what only a person must decide', () => {
    const people = CASES.filter(([code]) =>
      ['held', 'disputed', 'finding', 'invalid', 'all-paused', 'parked'].includes(code),
    );
    for (const [, changes] of people) {
      expect(readinessChecks(problemsOf(readingOf(changes))).every(({ ok }) => ok)).toBe(true);
    }
  });
});
