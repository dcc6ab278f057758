import { describe, expect, it } from 'vitest';
import { ReadProgress } from '../../../src/orders/pass/sent-intents.ts';
import { hastyClock } from '../../support/test-clock.ts';
import {
  decidingAdvice,
  doubtedBy,
  isCovered,
  isKnownTo,
  isSeenAfter,
  mostRowsRead,
  placeReached,
  readSettings,
  type FailOver,
} from '../../../src/accounts/rules/fail-over.ts';

const limits = (rate: string, concurrency: string, rowsRead = '10') =>
  JSON.stringify({
    'exchange.rate': rate,
    'exchange.concurrency': concurrency,
    'rows walked by per request': rowsRead,
  });

const COVERED = JSON.stringify({ 'database.synchronousStandbys': '1' });

const failOver: FailOver = {
  id: 7,
  generation: 6,
  fromTimeLine: '1/00000001',
  toTimeLine: '1/00000002',
  seenAt: '2040-01-01T00:00:10.000Z',
  heardAt: '2040-01-01T00:00:00.000Z',
  settings: limits('5 in 1000 ms', '8'),
  nextSettings: limits('5 in 1000 ms', '8'),
  walked: null,
  insertedUntil: null,
};

describe('the orders that a lost owner may have read', () => {
  it('are ten times its rate since its last heartbeat, and ten seconds more for the clocks, and those in flight', () => {
    expect(mostRowsRead(failOver)).toBe((20 + 1) * 5 * 10 + 2 * 8);
  });

  it('are no fewer than a pass can read, if the clock of the promoted server is ten seconds behind', async () => {
    const [unheardMs, intervalMs] = [60_000, 10_000];
    const clock = hastyClock();
    const readProgress = new ReadProgress({}, clock, { requests: 1, intervalMs });
    const begunAt = clock.monotonic();
    let rows = -1;
    for (; clock.monotonic() - begunAt <= unheardMs; rows += 1) await readProgress.next(new AbortController().signal);
    const seenAt = new Date(Date.parse('2040-01-01T00:00:00.000Z') + unheardMs - 10_000).toISOString();
    const settings = limits(`1 in ${intervalMs} ms`, '1');
    expect(mostRowsRead({ ...failOver, seenAt, settings, nextSettings: settings })).toBe(rows + 2);
  });

  it.each([
    ['its own rate', { settings: limits('50 in 1000 ms', '8') }, 21 * 500 + 16],
    ['that of the next owner: it may have had newer settings', { nextSettings: limits('50 in 1000 ms', '8') }, 10_516],
    ['its own concurrency', { settings: limits('5 in 1000 ms', '80') }, 21 * 50 + 160],
    ['the rows that its version read', { settings: limits('5 in 1000 ms', '8', '20') }, 21 * 100 + 16],
    ['the clocks alone if its heartbeat is later than the claim', { heardAt: '2040-01-01T01:00:00.000Z' }, 566],
  ])('are counted by %s', (_what, change, most) => {
    expect(mostRowsRead({ ...failOver, ...change })).toBe(most);
  });

  it.each([
    ['heartbeat', { heardAt: null }],
    ['settings', { settings: null }],
    ['settings of the next owner', { nextSettings: null }],
    ['rate', { settings: limits('many', '8') }],
    ['rate alone', { settings: limits('about 5 in 1000 ms', '8') }],
    ['rate without more words', { settings: limits('5 in 1000 ms, at least', '8') }],
    ['rate above 0', { settings: limits('0 in 1000 ms', '8') }],
    ['concurrency', { settings: limits('5 in 1000 ms', 'undefined') }],
    ['concurrency above 0', { settings: limits('5 in 1000 ms', '0') }],
    ['concurrency in whole requests', { settings: limits('5 in 1000 ms', '8.5') }],
    ['rows of a pass', { nextSettings: limits('5 in 1000 ms', '8', 'undefined') }],
    ['rows of a pass above 0', { nextSettings: limits('5 in 1000 ms', '8', '0') }],
    ['text of the settings', { settings: '{' }],
  ])('are all if nothing tells its %s', (_what, change) => {
    expect(mostRowsRead({ ...failOver, ...change })).toBeUndefined();
  });

  it('begin at the place that it had reached, or at the beginning if nothing tells that', () => {
    expect(placeReached({ ...failOver, walked: '["2040","a"]' })).toEqual(['2040', 'a']);
    for (const walked of [null, '{', '7', '[7]', '["2040",7]'])
      expect(placeReached({ ...failOver, walked })).toBeUndefined();
  });

  it('are the orders that were inserted before, by clocks that may differ', () => {
    const insertedUntil = '2040-01-01T00:00:00.000Z';
    const known = ['2040-01-01T00:00:10.000Z', '2040-01-01T00:00:10.001Z'].map((at) =>
      isKnownTo({ insertedUntil }, at),
    );
    expect([...known, isKnownTo(failOver, '2041-01-01T00:00:00.000Z')]).toEqual([true, false, true]);
  });
});

describe('the settings that an owner wrote', () => {
  it.each([
    ['nothing', null],
    ['a text that is no JSON', '{'],
    ['a JSON text', '"5"'],
    ['a number', '5'],
    ['null', 'null'],
  ])('are none if it wrote %s', (_what, text) => {
    expect(readSettings(text)).toEqual({});
  });
});

describe('a fail-over', () => {
  const standbys = (count: string) => JSON.stringify({ 'database.synchronousStandbys': count });
  it.each([
    ['both owners waited for a standby', standbys('1'), standbys('2'), true],
    ['the lost owner did not wait', standbys('0'), standbys('1'), false],
    ['the next owner does not wait', standbys('1'), standbys('0'), false],
    ['nothing tells whether the lost owner waited', null, standbys('1'), false],
    ['the settings name no standby', '{}', '{}', false],
  ])('loses no intent if each was on a standby first: %s', (_what, settings, nextSettings, expected) => {
    expect(isCovered({ ...failOver, settings, nextSettings })).toBe(expected);
  });

  it('is seen after a time also if its clock is up to ten seconds behind', () => {
    const times = ['2040-01-01T00:00:10.000Z', '2040-01-01T00:00:20.000Z', '2040-01-01T00:00:20.001Z'];
    expect(times.map((time) => isSeenAfter(failOver.seenAt, new Date(time)))).toEqual([true, true, false]);
  });

  it('is decided by a command that names it and its account, after the exchange was asked, and what sends nothing first', () => {
    expect(decidingAdvice('shop', failOver)).toMatch(
      /^ask the exchange .*order-sync db accept-restore --account shop --failover 7 --sent --file .*--not-sent/,
    );
  });
});

describe('an order that stayed as it was over a fail-over', () => {
  const before = '2040-01-01T00:00:00.000Z';
  it.each(['rejected', 'invalid', 'unknown', 'held'] as const)('counts as sent if it is %s', (state) => {
    expect(doubtedBy([failOver], { state, failOver: null }, before)).toBe(failOver);
  });

  it('counts as sent if it changed last when the fail-over was seen', () => {
    expect(doubtedBy([failOver], { state: 'held', failOver: null }, failOver.seenAt)).toBe(failOver);
  });

  it.each(['pending', 'sending', 'accepted', 'open', 'final', 'cancelled'] as const)(
    'does not if it is %s',
    (state) => {
      expect(doubtedBy([failOver], { state, failOver: null }, before)).toBeUndefined();
    },
  );

  it('is doubted by the fail-over that it names, whatever its state and whatever was decided', () => {
    const others: FailOver[] = [
      { ...failOver, id: 6 },
      { ...failOver, decision: 'not-sent' },
    ];
    const doubted = (id: number) => doubtedBy(others, { state: 'pending', failOver: id }, '2041');
    expect([7, 6, 5].map(doubted)).toEqual([others[1], others[0], undefined]);
  });

  it.each([
    ['it changed since', {}, '2040-01-01T00:00:11.000Z'],
    ['a person said that it was not sent', { decision: 'not-sent' }, before],
    ['both owners had each intent on a standby first', { settings: COVERED, nextSettings: COVERED }, before],
  ] as const)('does not if %s', (_what, change, updatedAt) => {
    expect(doubtedBy([{ ...failOver, ...change }], { state: 'rejected', failOver: null }, updatedAt)).toBeUndefined();
  });
});
