import { describe, expect, it } from 'vitest';
import type { Contradiction } from '../../../src/orders/rules/contradictions.ts';
import { after } from '../../../src/base/instant.ts';
import { decideLookup, isOvertaken } from '../../../src/orders/rules/follow.ts';
import type { FoundRecord } from '../../../src/orders/rules/lookup.ts';
import { NO_TURNS, shownText, type Turns } from '../../../src/orders/rules/record-change.ts';
import type { OrderState } from '../../../src/orders/rules/states.ts';
import type { Tracking } from '../../../src/orders/rules/tracking.ts';
import type { RecordView, RecordFields } from '../../../src/orders/rules/record.ts';
import { DAY, HOUR, newRecord, SECOND, SETTINGS, trackingWith } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const EARLIER = '2026-01-05T10:00:00.000Z';
const LATER = '2026-01-05T11:00:00.000Z';
const MAPPED = { ...SETTINGS, finalStatuses: ['DONE'] };
const SAME = { orderId: 'o1', orderStatus: 'DONE', cryptoStatus: 'NEW', fiatStatus: 'NEW' } as const;
const OTHER_AMOUNT: Contradiction = { kind: 'amount', expected: '1', actual: '2' };

const foundRecord = (record: Partial<RecordView> = {}): FoundRecord => ({
  kind: 'found',
  record: newRecord(record),
  body: '{}',
});

function decide(
  tracking: Partial<Tracking>,
  answer: FoundRecord = foundRecord({ orderStatus: 'DONE' }),
  contradictions: readonly Contradiction[] = [],
) {
  return decideLookup(trackingWith({ attempts: 1, ...tracking }), answer, NOW, 0.5, MAPPED, contradictions);
}

describe('an order that has ended and is found again as it was', () => {
  const ended = { ...SAME, state: 'final', rechecks: 1, changedAt: after(NOW, -DAY) } as const;

  it('has one look-up fewer ahead of it', () => {
    expect(decide({ ...ended, nextActionAt: NOW }).tracking).toMatchObject({
      rechecks: 2,
      changedAt: ended.changedAt,
      lastLookupAt: NOW,
      nextActionAt: after(NOW, 6 * DAY),
    });
    expect(decide({ ...ended, rechecks: 3, nextActionAt: null }).tracking).toMatchObject({
      rechecks: 4,
      nextActionAt: null,
    });
  });

  it('before its time spends none', () => {
    const nextActionAt = after(NOW, 1);
    expect(decide({ ...ended, nextActionAt }).tracking).toMatchObject({ rechecks: 1, nextActionAt });
  });

  it('has all of them ahead if something has changed', () => {
    const changed = foundRecord({ orderStatus: 'DONE', fiatStatus: 'PAID' });
    expect(decide({ ...ended, nextActionAt: after(NOW, 1) }, changed).tracking).toMatchObject({
      rechecks: 0,
      changedAt: NOW,
      nextActionAt: after(NOW, HOUR),
    });
    expect(decide({ ...ended, state: 'held' }).tracking).toMatchObject({ rechecks: 0, changedAt: NOW });
  });

  it('has none counted while it is open', () => {
    const open = { ...ended, orderStatus: 'REQUEST', state: 'open', nextActionAt: after(NOW, 1) } as const;
    const { tracking } = decide(open, foundRecord());
    expect(tracking.rechecks).toBe(0);
    expect(tracking.nextActionAt).toEqual(after(NOW, HOUR));
  });

  it('stays abandoned if a person abandoned the order that contradicts it, and no other', () => {
    const abandoned = { ...ended, state: 'abandoned', stateReason: 'not ours', nextActionAt: NOW } as const;
    expect(decide(abandoned, undefined, [OTHER_AMOUNT])).toMatchObject({
      tracking: { state: 'abandoned', stateReason: 'not ours', rechecks: 2, nextActionAt: after(NOW, 6 * DAY) },
      events: [],
    });
    const open = { ...abandoned, orderStatus: 'REQUEST' };
    expect(decide(open, foundRecord(), [OTHER_AMOUNT]).tracking).toMatchObject({ state: 'abandoned', rechecks: 2 });
    const another = foundRecord({ orderStatus: 'DONE', orderId: 'o2' });
    expect(decide(abandoned, another, [OTHER_AMOUNT]).tracking).toMatchObject({ state: 'disputed', orderId: 'o2' });
  });
});

describe('the events of a record', () => {
  const record = foundRecord({ orderStatus: 'DONE', modificationDate: LATER });
  const said = (tracking: Partial<Tracking>, contradictions: readonly Contradiction[] = [], answer = record) =>
    decide({ ...SAME, ...tracking }, answer, contradictions).events;

  it('bear the date of the record', () => {
    expect(said({ state: 'open', orderStatus: 'REQUEST' })).toEqual([
      {
        field: 'order.status',
        oldValue: 'REQUEST',
        newValue: 'DONE',
        exchangeTime: LATER,
        source: 'lookup',
        reason: null,
      },
      { field: 'state', oldValue: 'open', newValue: 'final', exchangeTime: LATER, source: 'lookup', reason: null },
    ]);
  });

  it.each<[OrderState, string]>([
    ['rejected', 'rejected'],
    ['cancelled', 'cancelled'],
    ['abandoned', 'abandoned'],
  ])('tell that an order exists for a row that was %s', (state, why) => {
    expect(said({ state })[1]).toMatchObject({
      field: 'finding',
      newValue: 'UNEXPECTED_ORDER',
      exchangeTime: LATER,
      source: 'lookup',
      reason: expect.stringContaining(why) as string,
    });
  });

  it('tell that an order exists for a row that was never sent, and dispute it', () => {
    const { tracking, events } = decide({ state: 'pending', attempts: 0 }, record);
    expect(tracking.stateReason).toContain('never sent');
    const moved = events.filter(({ field }) => field === 'state' || field === 'finding');
    expect(moved).toMatchObject([
      { newValue: 'disputed', reason: tracking.stateReason },
      { newValue: 'UNEXPECTED_ORDER', reason: expect.stringContaining('never sent') as string },
    ]);
  });

  it('tell of nothing unexpected if a person said that the order is ours, or if it was sent', () => {
    const ours = { state: 'open', attempts: 0, oursDespite: '[]' } as const;
    expect(said(ours).map(({ newValue }) => newValue)).toEqual(['final']);
    expect(decide({ ...ours, state: 'cancelled' }, record).tracking.state).toBe('final');
    expect(said({ state: 'pending', attempts: 1 }).map(({ newValue }) => newValue)).toEqual(['final']);
  });

  it('tell that a final order is open again, but not that it is disputed', () => {
    expect(said({ state: 'final' }, [], foundRecord({ modificationDate: LATER })).at(-1)).toMatchObject({
      newValue: 'TERMINAL_REOPENED',
      exchangeTime: LATER,
      source: 'lookup',
      reason: expect.stringMatching(/./) as string,
    });
    expect(said({ state: 'final' }, [OTHER_AMOUNT]).map(({ newValue }) => newValue)).toEqual(['disputed']);
  });

  it('leave the reason of a state that stays', () => {
    expect(decide({ ...SAME, state: 'final', stateReason: 'before' }, record).tracking.stateReason).toBe('before');
  });
});

describe('a record beside the newest one', () => {
  const RATIO = 'order.exchangeOperation.ratio';
  const fields = (ratio: string): RecordFields => ({ documented: new Map([[RATIO, ratio]]), other: new Map() });
  const [newest, received] = [fields('1'), fields('2')];
  const [newestHash, receivedHash] = [shownText(newest), shownText(received)];
  /** The exchange sends the record before the newest one again. */
  const inTurn = (turns: Partial<Turns>, modificationDate: string | null = LATER): FoundRecord => ({
    ...foundRecord({ orderStatus: 'DONE', modificationDate }),
    comparison: {
      newest,
      received,
      newestHash,
      receivedHash,
      turns: { ...NO_TURNS, earlierHash: receivedHash, ...turns },
    },
  });
  const known = { ...SAME, state: 'final', modificationDate: LATER, nextActionAt: NOW } as const;

  it('has the fields that changed recorded, with the date', () => {
    const { events, keepsRecord, turns } = decide(known, inTurn({ earlierHash: null }));
    expect(events).toEqual([
      { field: 'record.ratio', oldValue: '1', newValue: '2', exchangeTime: LATER, source: 'lookup', reason: null },
    ]);
    expect([keepsRecord, turns]).toEqual([true, { earlierHash: newestHash, turns: 1, repeats: 0, quietChanges: 0 }]);
  });

  it('is not taken if the two come in turn', () => {
    expect(decide(known, inTurn({ turns: 2 }, null))).toEqual({
      tracking: trackingWith({
        ...known,
        attempts: 1,
        staleDate: 'no date',
        lastLookupAt: NOW,
        rechecks: 1,
        nextActionAt: after(NOW, DAY - HOUR),
      }),
      events: [],
      keepsRecord: false,
      disagreement: { expected: `DONE, modified ${LATER}`, actual: 'DONE, modified at no time' },
      turns: { earlierHash: receivedHash, turns: 3, repeats: 1, quietChanges: 0 },
    });
  });

  it('is taken once it is given often enough in a row', () => {
    const often = inTurn({ turns: 3, repeats: 2 });
    expect(decide({ ...known, staleDate: LATER }, often)).toMatchObject({
      keepsRecord: true,
      tracking: { staleDate: null },
    });
    // The newest one came in between.
    expect(decide(known, often)).toMatchObject({ keepsRecord: false, turns: { turns: 4, repeats: 1 } });
  });

  it('is taken whatever came before if it disputes the order', () => {
    const { tracking, keepsRecord } = decide(known, inTurn({ turns: 2 }), [OTHER_AMOUNT]);
    expect([tracking.state, keepsRecord]).toEqual(['disputed', true]);
  });

  it('is none if nothing is known to compare it with', () => {
    expect(Object.keys(decide(known))).not.toContain('turns');
  });
});

describe('an answer that another pass has overtaken', () => {
  const askedAt = after(NOW, -10 * SECOND);
  const known = { lastLookupAt: after(NOW, -SECOND), orderId: 'o1', modificationDate: LATER } as const;
  const overtaken = (changes: Partial<Tracking>, modificationDate: string | null = LATER) =>
    isOvertaken(trackingWith({ ...known, ...changes }), foundRecord({ modificationDate }), askedAt, NOW);

  it.each<[string, Partial<Tracking>, string | null, boolean]>([
    ['is one of the same date', {}, LATER, true],
    ['is one of an older date', {}, EARLIER, true],
    ['is none with a newer date', { modificationDate: EARLIER }, LATER, false],
    ['is one without a date', {}, null, true],
    ['is one with a date that cannot be read', {}, 'soon', true],
    ['is one if no date is known', { modificationDate: null }, LATER, true],
    ['is none if no record is known', { orderId: null }, EARLIER, false],
    ['is none if no look-up was made since', { lastLookupAt: askedAt }, EARLIER, false],
    ['is none if no look-up was ever made', { lastLookupAt: null }, EARLIER, false],
    ['is one if a look-up was made right after', { lastLookupAt: after(askedAt, 1) }, EARLIER, true],
    ['is one if a look-up is made right now', { lastLookupAt: NOW }, EARLIER, true],
    ['is none if the last look was under another clock', { lastLookupAt: after(NOW, 1) }, EARLIER, false],
  ])('%s', (_what, changes, modificationDate, isOne) => {
    expect(overtaken(changes, modificationDate)).toBe(isOne);
  });

  it('is each one that has no record', () => {
    const row = trackingWith({ ...known, orderId: null });
    expect(isOvertaken(row, { kind: 'unanswered', why: 'HTTP 502' }, askedAt, NOW)).toBe(true);
  });
});
