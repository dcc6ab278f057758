import { describe, expect, it } from 'vitest';
import {
  decideRestraints,
  decideSending,
  describeHold,
  REFUSALS,
  RESUMED_HOLDS,
  slowedAgain,
  stops,
  takenOver,
  viewOf,
  type AccountNews,
  type Hold,
  type HoldKind,
} from '../../../src/domain/accounts/holds.ts';
import { after } from '../../../src/domain/instant.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const SETTINGS = { pauseAfterUnknown: 3 };

/** A hold that began a minute ago and lasts until now. */
function hold(kind: HoldKind, changes: Partial<Hold> = {}): Hold {
  return { kind, since: after(NOW, -MINUTE), until: NOW, reason: 'r', actor: null, ...changes };
}

function decide(news: AccountNews, holds: readonly Hold[] = [], askedAt = NOW, unknownInARow = 2) {
  return decideRestraints({ holds, unknownInARow }, news, askedAt, NOW, SETTINGS);
}

describe('a hold', () => {
  it.each<[HoldKind, readonly string[]]>([
    ['creates-paused', ['create']],
    ['all-paused', ['create', 'lookup']],
    ['restored', ['create']],
    ['rate-limited', ['create', 'lookup', 'person']],
    ['key-refused', ['create', 'lookup']],
    ['forbidden', ['create']],
    ['slowed', ['create']],
    ['guarded', ['create']],
  ])('that is %s stops %j', (kind, lanes) => {
    const all = ['create', 'lookup', 'person'] as const;
    expect(all.filter((lane) => stops({ kind }, lane))).toEqual(lanes);
    expect(all.filter((lane) => decideSending([hold(kind, { until: null })], lane, NOW).kind === 'held')).toEqual(
      lanes,
    );
  });

  it('is ended by a person unless the exchange ends it', () => {
    expect(RESUMED_HOLDS).toEqual(['creates-paused', 'all-paused', 'restored', 'slowed', 'guarded']);
  });

  it.each<[AccountNews['kind'], readonly HoldKind[]]>([
    ['served', ['rate-limited', 'key-refused']],
    ['create-accepted', ['forbidden', 'slowed']],
    ['create-rejected', []],
    ['create-unknown', []],
  ])('is ended by a request that is %s: %j', (kind, ended) => {
    const kinds: HoldKind[] = [
      'creates-paused',
      'restored',
      'rate-limited',
      'key-refused',
      'forbidden',
      'slowed',
      'guarded',
    ];
    const holds = kinds.map((one) => hold(one));
    expect(decide({ kind } as AccountNews, holds).ended).toEqual(ended);
  });

  it('is not ended by a request that was in flight when it began', () => {
    const holds = [hold('key-refused'), hold('forbidden'), hold('rate-limited', { since: after(NOW, -2 * MINUTE) })];
    const [, , limited] = holds;
    const begun = holds[0]!.since;
    expect(decide({ kind: 'served' }, holds, begun).ended).toEqual([]);
    expect(decide({ kind: 'create-accepted' }, holds, begun).ended).toEqual([]);
    expect(decide({ kind: 'served' }, holds, after(begun, 1)).ended).toEqual(['key-refused']);
    expect(decide({ kind: 'create-accepted' }, holds, after(begun, 1)).ended).toEqual(['forbidden']);
    // The exchange asked to wait until then: an earlier request that it served says nothing of that.
    expect(decide({ kind: 'served' }, [limited!], after(NOW, -1)).ended).toEqual([]);
    expect(decide({ kind: 'served' }, [{ ...limited!, until: null }]).ended).toEqual([]);
  });
});

describe('creates whose outcomes are unknown', () => {
  it('are counted until one has an outcome', () => {
    expect(decide({ kind: 'create-unknown' }, [], NOW, 1)).toEqual({ ended: [], unknownInARow: 2 });
    expect(decide({ kind: 'served' })).toEqual({ ended: [], unknownInARow: 2 });
    for (const kind of ['create-accepted', 'create-rejected'] as const) expect(decide({ kind }).unknownInARow).toBe(0);
  });

  it('slow creates to one an hour when there are too many in a row', () => {
    const { set, ...rest } = decide({ kind: 'create-unknown' });
    expect(rest).toEqual({ ended: [], unknownInARow: 0 });
    expect(set).toEqual({
      kind: 'slowed',
      since: NOW,
      until: after(NOW, HOUR),
      reason: expect.stringContaining('3') as string,
      actor: null,
    });
    expect(slowedAgain(set!, after(NOW, HOUR))).toEqual({ ...set, until: after(NOW, 2 * HOUR) });
  });

  it('are not counted while creates are slowed', () => {
    const holds = [hold('forbidden'), hold('slowed')];
    expect(decide({ kind: 'create-unknown' }, holds)).toEqual({ ended: [], unknownInARow: 0 });
    expect(decide({ kind: 'create-unknown' }, [hold('forbidden')]).set?.kind).toBe('slowed');
  });
});

describe('a refusal of the exchange', () => {
  it.each<[AccountNews & { kind: keyof typeof REFUSALS }, number]>([
    [{ kind: 'rate-limited', retryAfterMs: 0 }, SECOND],
    [{ kind: 'rate-limited', retryAfterMs: 7_000 }, 7_000],
    [{ kind: 'key-refused' }, SECOND],
    [{ kind: 'forbidden' }, SECOND],
  ])('sets a hold, for a second or as long as it says: %o', (news, ms) => {
    const set = { kind: news.kind, since: NOW, until: after(NOW, ms), reason: REFUSALS[news.kind], actor: null };
    for (const askedAt of [NOW, after(NOW, -MINUTE)]) {
      expect(decide(news, [], askedAt)).toEqual({ ended: [], unknownInARow: 2, set });
    }
    expect(REFUSALS[news.kind]).toMatch(/4\d\d/);
  });

  it.each([
    [0, SECOND],
    [30 * SECOND, 30 * SECOND],
    [DAY, 5 * MINUTE],
  ])('that comes again after the wait doubles it: it has lasted %d ms, and lasts %d more', (lasted, ms) => {
    const since = after(NOW, -lasted);
    const others = [hold('forbidden', { since: NOW })];
    const { set } = decide({ kind: 'key-refused' }, [...others, hold('key-refused', { since })]);
    expect(set).toMatchObject({ kind: 'key-refused', since, until: after(NOW, ms) });
  });

  it('to a request that was in flight meanwhile doubles nothing, and may ask for longer', () => {
    const until = after(NOW, 10 * SECOND);
    const holds = [hold('rate-limited', { until })];
    const limited = (retryAfterMs: number) => decide({ kind: 'rate-limited', retryAfterMs }, holds).set;
    expect([limited(0), limited(10 * SECOND)]).toEqual([undefined, undefined]);
    expect(limited(11 * SECOND)?.until).toEqual(after(NOW, 11 * SECOND));
    const early = after(NOW, -1);
    expect(decide({ kind: 'key-refused' }, [hold('key-refused')], early).set).toBeUndefined();
    expect(decide({ kind: 'key-refused' }, [hold('key-refused')], NOW).set?.until).toEqual(after(NOW, MINUTE));
  });

  it('in place of a hold that a person ends lasts from now', () => {
    const { set } = decide({ kind: 'forbidden' }, [hold('forbidden', { until: null })]);
    expect(set?.until).toEqual(after(NOW, MINUTE));
  });
});

describe('a hold that a new owner takes over', () => {
  it.each<[string, Hold, Date | null]>([
    ['of a person lasts on', hold('all-paused', { until: null }), null],
    ['of a key is tried at once: it may be another key', hold('key-refused', { until: after(NOW, MINUTE) }), NOW],
    ['of another kind lasts on', hold('rate-limited', { until: after(NOW, DAY) }), after(NOW, DAY)],
    ['that lasts too long was written by another clock', hold('slowed', { until: after(NOW, DAY + 1) }), NOW],
  ])('%s', (_what, one, until) => {
    expect(takenOver(one, NOW)).toEqual({ ...one, until });
  });
});

describe('a hold for people', () => {
  it('says who set it, why, and how it ends', () => {
    const view = viewOf(hold('creates-paused', { until: null, actor: 'ann', reason: 'audit' }));
    expect(view).toEqual({
      kind: 'creates-paused',
      since: after(NOW, -MINUTE).toISOString(),
      until: null,
      reason: 'audit',
      actor: 'ann',
    });
    for (const part of ['creates-paused', view.since, 'by ann', 'audit', 'order-sync resume']) {
      expect(describeHold(view, 'default')).toContain(part);
    }
  });

  it('says until when it lasts where nobody has to end it', () => {
    const view = viewOf(hold('slowed', { until: after(NOW, HOUR) }));
    expect(view.until).toBe(after(NOW, HOUR).toISOString());
    expect(describeHold(view, 'default')).toMatch(new RegExp(`since ${view.since}\\b.* until ${view.until}`));
    expect(describeHold(view, 'default')).not.toMatch(/ by |resume/);
  });
});
