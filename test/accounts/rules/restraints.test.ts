import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideRestraints,
  stoppedForMs,
  describeRestraint,
  isInDoubt,
  REFUSALS,
  RESUMED_RESTRAINTS,
  slowedAgain,
  stops,
  takenOver,
  viewOf,
  type AccountNews,
  type Restraint,
  type RestraintKind,
  type Restraints,
} from '../../../src/accounts/rules/restraints.ts';
import { after } from '../../../src/base/instant.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const SETTINGS = { pauseAfterUnknown: 3 };

/** A restraint that began a minute ago and lasts until now. */
function restraint(kind: RestraintKind, changes: Partial<Restraint> = {}): Restraint {
  return { kind, since: after(NOW, -MINUTE), until: NOW, reason: 'r', actor: null, ...changes };
}

function decide(news: AccountNews, restraints: readonly Restraint[] = [], askedAt = NOW, unknownInARow = 2) {
  return decideRestraints({ restraints, unknownInARow }, news, askedAt, NOW, SETTINGS);
}

describe('a restraint', () => {
  it.each<[RestraintKind, readonly string[]]>([
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
    expect(all.filter((lane) => stoppedForMs([restraint(kind, { until: null })], lane, NOW) > 0)).toEqual(lanes);
  });

  it('is ended by a person unless the exchange ends it', () => {
    expect(RESUMED_RESTRAINTS).toEqual(['creates-paused', 'all-paused', 'restored', 'slowed', 'guarded']);
  });

  it.each<[AccountNews['kind'], readonly RestraintKind[]]>([
    ['served', ['rate-limited', 'key-refused']],
    ['create-accepted', ['forbidden', 'slowed']],
    ['create-rejected', []],
    ['create-unknown', []],
  ])('is ended by a request that is %s: %j', (kind, ended) => {
    const kinds: RestraintKind[] = [
      'creates-paused',
      'restored',
      'rate-limited',
      'key-refused',
      'forbidden',
      'slowed',
      'guarded',
    ];
    const restraints = kinds.map((one) => restraint(one));
    expect(decide({ kind } as AccountNews, restraints).ended).toEqual(ended);
  });

  it('is not ended by a request that was in flight when it began', () => {
    const restraints = [
      restraint('key-refused'),
      restraint('forbidden'),
      restraint('rate-limited', { since: after(NOW, -2 * MINUTE) }),
    ];
    const [, , limited] = restraints;
    const begun = restraints[0]!.since;
    expect(decide({ kind: 'served' }, restraints, begun).ended).toEqual([]);
    expect(decide({ kind: 'create-accepted' }, restraints, begun).ended).toEqual([]);
    expect(decide({ kind: 'served' }, restraints, after(begun, 1)).ended).toEqual(['key-refused']);
    expect(decide({ kind: 'create-accepted' }, restraints, after(begun, 1)).ended).toEqual(['forbidden']);
    // The exchange asked to wait until then: an earlier request that it served says nothing of that.
    expect(decide({ kind: 'served' }, [limited!], after(NOW, -1)).ended).toEqual([]);
    expect(decide({ kind: 'served' }, [{ ...limited!, until: null }]).ended).toEqual([]);
  });
});

describe('creates whose outcomes are unknown', () => {
  type Step = readonly [AccountNews['kind'], askedAtMs: number, nowMs: number];
  const at = (ms: number) => after(NOW, ms);

  /** The restraints after replies, each asked and received at these times in ms from now. */
  function restrained(steps: readonly Step[], settings = { pauseAfterUnknown: 10 }): Restraints {
    let restraints: Restraints = { restraints: [], unknownInARow: 0 };
    for (const [kind, askedAt, now] of steps) {
      const change = decideRestraints(restraints, { kind } as AccountNews, at(askedAt), at(now), settings);
      const left = restraints.restraints.filter(
        (one) => one.kind !== change.set?.kind && !change.ended.includes(one.kind),
      );
      restraints = { ...change, restraints: change.set === undefined ? left : [...left, change.set] };
    }
    return restraints;
  }

  const lost = (ms: number, tookMs = 1): Step => ['create-unknown', ms - tookMs, ms];
  const answered = (ms: number): Step => ['served', ms - 1, ms];
  const silent = (ms: number): Step => ['no-answer', ms - 1, ms];

  it.each<[string, readonly Step[], number]>([
    ['count once an answer shows that the exchange serves everything else', [lost(5), answered(9)], 1],
    ['count each if others are answered in between', [lost(5), answered(9), lost(15), answered(19)], 2],
    ['are one piece of evidence if they left before the first was known', [lost(9, 9), answered(12), lost(15, 9)], 1],
    ['are one piece of evidence if nothing is answered in between', [lost(5), lost(9), lost(15), answered(19)], 1],
    ['do not count if look-ups have no answer either', [lost(5), silent(9), answered(19)], 0],
    ['do not count twice if look-ups have none', [lost(5), answered(9), lost(15), silent(19), silent(29)], 1],
    ['are not shown to be lost alone by what was asked before', [lost(5), ['served', 1, 9], silent(19)], 0],
    ['are counted until one is accepted', [lost(5), answered(9), ['create-accepted', 10, 11]], 0],
    ['are counted until one is rejected', [lost(5), answered(9), ['create-rejected', 10, 11]], 0],
  ])('%s', (_what, steps, unknownInARow) => {
    expect(restrained(steps)).toMatchObject({ unknownInARow });
  });

  it('slow creates from the second piece of evidence on, each time for twice as long, up to an hour', () => {
    const steps: Step[] = [];
    const waits = Array.from({ length: 10 }, (_, piece) => {
      steps.push(lost(100 * piece + 50), answered(100 * piece + 60));
      const [slowed] = restrained(steps, { pauseAfterUnknown: 100 }).restraints;
      return slowed === undefined ? 0 : (slowed.until!.getTime() - at(100 * piece + 50).getTime()) / MINUTE;
    });
    expect(waits).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it.each([
    [1, [60, 60, 60]],
    [2, [0, 60, 60]],
    [3, [0, 1, 60]],
  ])('slow creates to one an hour after %i', (pauseAfterUnknown, expected) => {
    const steps: Step[] = [];
    const waits = [0, 100, 200].map((ms) => {
      steps.push(lost(ms + 50), answered(ms + 60));
      const [slowed] = restrained(steps, { pauseAfterUnknown }).restraints;
      return slowed === undefined ? 0 : (slowed.until!.getTime() - at(ms + 50).getTime()) / MINUTE;
    });
    expect(waits).toEqual(expected);
  });

  it('name how often, and since when, in the restraint, which the next create makes longer', () => {
    const { restraints, ...rest } = restrained([lost(5), answered(9), lost(15), answered(19), lost(25), answered(29)]);
    const reason = expect.stringContaining('3') as string;
    expect(restraints).toEqual([{ kind: 'slowed', since: at(15), until: at(25 + 2 * MINUTE), reason, actor: null }]);
    expect(rest.unknownInARow).toBe(3);
    const next = slowedAgain(restraints[0]!, 3, at(2 * MINUTE), { pauseAfterUnknown: 10 });
    expect(next).toEqual({ ...restraints[0], until: at(4 * MINUTE) });
  });

  it.each<[string, readonly Step[], boolean]>([
    ['before the first answer of a second piece', [lost(5), answered(9), lost(15)], true],
    ['not of the first, which may be an outage', [lost(5)], false],
    ['not once a look-up was answered', [lost(5), answered(9), lost(15), answered(19)], false],
    ['not once a look-up had no answer', [lost(5), answered(9), lost(15), silent(19)], false],
  ])('leave it in doubt whether creates alone are lost %s', (_what, steps, expected) => {
    expect(isInDoubt(restrained(steps), { pauseAfterUnknown: 10 })).toBe(expected);
  });

  it('leave nothing in doubt before the first of them', () => {
    expect(isInDoubt({ restraints: [], unknownInARow: 5 }, { pauseAfterUnknown: 10 })).toBe(false);
  });

  it('are settled, and counted apart, by a request that left when the last of them was known', () => {
    const steps: Step[] = [lost(5), ['served', 5, 9], ['create-unknown', 5, 15]];
    expect(restrained(steps)).toMatchObject({ unknownInARow: 2, evidence: { knownAt: at(15), isDoubted: true } });
    expect(restrained(steps.slice(0, 2)).evidence).toEqual({ knownAt: at(5), isDoubted: false });
  });

  it('slow creates since they were known, whatever other restraint began earlier', () => {
    const paused = restraint('creates-paused', { since: at(-HOUR), until: null });
    const evidence = { knownAt: at(5), isDoubted: true };
    const known = { restraints: [paused], unknownInARow: 2, evidence };
    const { set } = decideRestraints(known, { kind: 'served' }, at(8), at(9), SETTINGS);
    expect(set).toMatchObject({ kind: 'slowed', since: at(5) });
  });

  it('never slow creates in an outage of everything, and otherwise never for longer than an hour', () => {
    const kinds = fc.constantFrom<AccountNews['kind'][]>('served', 'no-answer', 'create-accepted', 'create-unknown');
    const step = fc.tuple(kinds, fc.nat(30_000), fc.nat(60_000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (drawn, pauseAfterUnknown) => {
        let now = 0;
        const steps = drawn.map(([kind, tookMs, afterMs]): Step => [kind, (now += afterMs) - tookMs, now]);
        const outage = steps.filter(([kind]) => kind === 'no-answer' || kind === 'create-unknown');
        expect(restrained(outage, { pauseAfterUnknown })).toMatchObject({ restraints: [] });
        expect(restrained(outage, { pauseAfterUnknown }).unknownInARow).toBeLessThanOrEqual(1);
        const { restraints, unknownInARow, evidence } = restrained(steps, { pauseAfterUnknown });
        expect(unknownInARow).toBeGreaterThanOrEqual(evidence?.isDoubted === true ? 1 : 0);
        for (const { since, until } of restraints) {
          expect(until!.getTime()).toBeLessThanOrEqual(at(now).getTime() + HOUR);
          expect(since.getTime()).toBeGreaterThanOrEqual(NOW.getTime());
        }
      }),
    );
  });
});

describe('a refusal of the exchange', () => {
  it.each<[AccountNews & { kind: keyof typeof REFUSALS }, number]>([
    [{ kind: 'rate-limited', retryAfterMs: 0 }, SECOND],
    [{ kind: 'rate-limited', retryAfterMs: 7_000 }, 7_000],
    [{ kind: 'key-refused' }, SECOND],
    [{ kind: 'forbidden' }, SECOND],
  ])('sets a restraint, for a second or as long as it says: %o', (news, ms) => {
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
    const others = [restraint('forbidden', { since: NOW })];
    const { set } = decide({ kind: 'key-refused' }, [...others, restraint('key-refused', { since })]);
    expect(set).toMatchObject({ kind: 'key-refused', since, until: after(NOW, ms) });
  });

  it('to a request that was in flight meanwhile doubles nothing, and may ask for longer', () => {
    const until = after(NOW, 10 * SECOND);
    const restraints = [restraint('rate-limited', { until })];
    const limited = (retryAfterMs: number) => decide({ kind: 'rate-limited', retryAfterMs }, restraints).set;
    expect([limited(0), limited(10 * SECOND)]).toEqual([undefined, undefined]);
    expect(limited(11 * SECOND)?.until).toEqual(after(NOW, 11 * SECOND));
    const early = after(NOW, -1);
    expect(decide({ kind: 'key-refused' }, [restraint('key-refused')], early).set).toBeUndefined();
    expect(decide({ kind: 'key-refused' }, [restraint('key-refused')], NOW).set?.until).toEqual(after(NOW, MINUTE));
  });

  it('in place of a restraint that a person ends lasts from now', () => {
    const { set } = decide({ kind: 'forbidden' }, [restraint('forbidden', { until: null })]);
    expect(set?.until).toEqual(after(NOW, MINUTE));
  });
});

describe('a restraint that a new owner takes over', () => {
  it.each<[string, Restraint, Date | null]>([
    ['of a person lasts on', restraint('all-paused', { until: null }), null],
    ['of a key is tried at once: it may be another key', restraint('key-refused', { until: after(NOW, MINUTE) }), NOW],
    ['of another kind lasts on', restraint('rate-limited', { until: after(NOW, DAY) }), after(NOW, DAY)],
    ['that lasts too long was written by another clock', restraint('slowed', { until: after(NOW, DAY + 1) }), NOW],
  ])('%s', (_what, one, until) => {
    expect(takenOver(one, NOW)).toEqual({ ...one, until });
  });
});

describe('a restraint for people', () => {
  it('says who set it, why, and how it ends', () => {
    const view = viewOf(restraint('creates-paused', { until: null, actor: 'ann', reason: 'audit' }));
    expect(view).toEqual({
      kind: 'creates-paused',
      since: after(NOW, -MINUTE).toISOString(),
      until: null,
      reason: 'audit',
      actor: 'ann',
    });
    for (const part of ['creates-paused', view.since, 'by ann', 'audit', 'order-sync resume']) {
      expect(describeRestraint(view, 'default')).toContain(part);
    }
  });

  it('says until when it lasts if no person must end it', () => {
    const view = viewOf(restraint('slowed', { until: after(NOW, HOUR) }));
    expect(view.until).toBe(after(NOW, HOUR).toISOString());
    expect(describeRestraint(view, 'default')).toMatch(new RegExp(`since ${view.since}\\b.* until ${view.until}`));
    expect(describeRestraint(view, 'default')).not.toMatch(/ by |resume/);
  });

  it('says how the refusal of a key ends, not when the key is tried next', () => {
    const view = viewOf(restraint('key-refused', { until: after(NOW, HOUR) }));
    expect(describeRestraint(view, 'default')).toMatch(/; the wait ends when .*key$/);
  });
});
