import { describe, expect, it } from 'vitest';
import {
  commandsFor,
  decideByOperator,
  obstacleTo,
  statesFor,
  type DecisionEvidence,
  type Judgement,
} from '../../../../src/extensions/operate/rules/judgement.ts';
import type { FollowSettings, PacedOrder } from '../../../../src/orders/rules/lookup.ts';
import { isAllowedMove, ORDER_STATES, type OrderState } from '../../../../src/orders/rules/states.ts';
import type { Tracking } from '../../../../src/orders/rules/tracking.ts';
import { HOUR, MINUTE, newRecord, SETTINGS, trackingWith } from '../../../support/tracking.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const SENT = new Date('2026-01-05T11:50:00.000Z');
const WHO = { actor: 'anna', reason: 'asked the exchange' };

const JUDGEMENTS: readonly Judgement[] = [
  { kind: 'exists', preOrderId: 'p1' },
  { kind: 'not-created' },
  { kind: 'ours' },
  { kind: 'abandoned' },
  { kind: 'retry', mayDuplicate: true },
  { kind: 'cancel' },
];

/** The moves of a person in the design, once more: a state, and the target of each judgement. */
const LEADS: Readonly<Record<OrderState, Readonly<Partial<Record<Judgement['kind'], string>>>>> = {
  pending: { cancel: 'cancelled' },
  sending: {},
  unknown: {
    exists: 'held accepted',
    'not-created': 'held pending',
    abandoned: 'held abandoned',
    retry: 'held pending',
  },
  held: { exists: 'accepted', 'not-created': 'pending', abandoned: 'abandoned', retry: 'pending' },
  accepted: { abandoned: 'abandoned' },
  open: {},
  disputed: { ours: 'open', abandoned: 'abandoned' },
  final: {},
  rejected: { retry: 'pending' },
  invalid: { retry: 'pending' },
  cancelled: {},
  abandoned: {},
};
const PAIRS = ORDER_STATES.flatMap((state) => JUDGEMENTS.map((judgement) => ({ state, judgement })));

function decide(
  state: OrderState,
  judgement: Judgement,
  changes: Parameters<typeof trackingWith>[0] = {},
  settings: FollowSettings = SETTINGS,
  acceptedAndAbsent?: string,
) {
  const tracking = trackingWith({
    state,
    sentAt: SENT,
    lastLookupAt: NOW,
    absentAt: NOW,
    attempts: 1,
    verifications: 10,
    ...changes,
  });
  const newest = { record: newRecord(), contradictions: [] };
  return decideByOperator(tracking, { judgement, ...WHO }, NOW, settings, { acceptedAndAbsent, newest });
}

/** Returns the decision; fails the test if there is none. */
function decided(...input: Parameters<typeof decide>) {
  const made = decide(...input);
  if (!made.ok) throw new Error(made.why);
  return { tracking: made.moves.at(-1)?.tracking, events: made.moves.flatMap(({ events }) => events) };
}

function refused(...input: Parameters<typeof decide>): string {
  const made = decide(...input);
  return made.ok ? 'nothing was refused' : made.why;
}

describe("a person's decision", () => {
  it.each(PAIRS)('$judgement.kind of an order that is $state is as the design says', ({ state, judgement }) => {
    const expected = LEADS[state][judgement.kind];
    const made = decide(state, judgement);
    if (expected === undefined) {
      expect(made.ok).toBe(false);
      return;
    }
    const { tracking, events } = decided(state, judgement);
    expect(events.map(({ newValue }) => newValue).join(' ')).toBe(expected);
    expect(tracking?.state).toBe(events.at(-1)?.newValue);
    let from = state;
    for (const { field, oldValue, newValue, source, reason, actor } of events) {
      expect({ field, oldValue, source, reason, actor }).toEqual({
        field: 'state',
        oldValue: from,
        source: 'operator',
        ...WHO,
      });
      expect(isAllowedMove(from, newValue as OrderState)).toBe(true);
      from = newValue as OrderState;
    }
    expect(tracking?.stateReason).toBe(WHO.reason);
  });

  it.each(ORDER_STATES.map((state) => ({ state })))(
    'names what would move an order that is $state, or that nothing does',
    ({ state }) => {
      const kinds = JUDGEMENTS.map(({ kind }) => kind).filter((kind) => LEADS[state][kind] !== undefined);
      const commands = commandsFor(state);
      expect(commands.map((command) => /\S+$/.exec(command)?.[0])).toEqual(kinds);
      const other = JUDGEMENTS.find(({ kind }) => LEADS[state][kind] === undefined);
      if (other === undefined) throw new Error('every judgement moves it');
      const why = refused(state, other);
      for (const command of commands) expect(why).toContain(command);
      expect(why.includes('nothing to decide')).toBe(commands.length === 0);
      expect(why).not.toMatch(/^it (?:;|undefined)/);
      if (commands.length > 1) expect(why).toContain(commands.join(', '));
    },
  );

  it('is given by the command of its name, or by orders resolve', () => {
    expect(ORDER_STATES.flatMap(commandsFor).filter((command) => !command.startsWith('orders resolve --as '))).toEqual([
      'orders cancel',
      ...Array<string>(4).fill('orders retry'),
    ]);
    expect(commandsFor('accepted')).toEqual(['orders resolve --as abandoned']);
  });

  it.each(JUDGEMENTS)('$kind knows the states that it moves', ({ kind }) => {
    expect(statesFor(kind)).toEqual(ORDER_STATES.filter((state) => LEADS[state][kind] !== undefined));
  });
});

describe('an order that exists at the exchange', () => {
  it('is followed from now on under the id that the person gave', () => {
    const { tracking } = decided('held', { kind: 'exists', preOrderId: 'p9' });
    expect(tracking).toMatchObject({ state: 'accepted', preOrderId: 'p9', changedAt: NOW });
    expect(tracking?.nextActionAt).toEqual(new Date(NOW.getTime() + 5_000));
    const pace = { gapMs: ({ state }: PacedOrder) => (state === 'accepted' ? 7_000 : Number.NaN) };
    const paced = decided('held', { kind: 'exists', preOrderId: 'p9' }, {}, { ...SETTINGS, pace });
    expect(paced.tracking?.nextActionAt).toEqual(new Date(NOW.getTime() + 7_000));
  });

  it.each<Judgement>([
    { kind: 'exists', preOrderId: 'p9' },
    { kind: 'abandoned' },
    { kind: 'retry', mayDuplicate: true },
  ])('or not, needs no proof of absence to be decided: $kind', (judgement) => {
    expect(decide('held', judgement, { sentAt: NOW, absentAt: null }, SETTINGS, 'shop-1').ok).toBe(true);
  });

  it('but contradicts the row is not ours while its record cannot be read', () => {
    const action = { judgement: { kind: 'ours' }, ...WHO } as const;
    expect(decideByOperator(trackingWith({ state: 'disputed' }), action, NOW, SETTINGS)).toEqual({
      ok: false,
      why: expect.stringContaining('sync') as string,
    });
  });
});

describe('an order that is sent again', () => {
  const retry = (mayDuplicate: boolean): Judgement => ({ kind: 'retry', mayDuplicate });

  it.each(['unknown', 'held'] as const)('from %s needs the option that says it may become two', (state) => {
    expect(refused(state, retry(false))).toMatch(/second pre-order.*--i-know-it-may-duplicate/);
    const { tracking } = decided(state, retry(true));
    expect(tracking).toMatchObject({ state: 'pending', resends: 1, verifications: 0, nextActionAt: NOW });
  });

  it.each(['rejected', 'invalid'] as const)('from %s does not, as it was not taken', (state) => {
    const { tracking } = decided(state, retry(false));
    expect(tracking).toMatchObject({ state: 'pending', resends: 0, nextActionAt: NOW });
  });

  it('because it was not created is believed only when the create can no longer be under way', () => {
    const sentAt = new Date(NOW.getTime() - 10 * MINUTE + 1);
    for (const state of ['unknown', 'held'] as const) {
      const why = refused(state, { kind: 'not-created' }, { sentAt });
      expect(why).toMatch(/2026-01-05T12:00:00\.001Z.*2026-01-05T11:50:00\.001Z.*--i-know-it-may-duplicate/);
      expect(decided(state, { kind: 'not-created' }).tracking?.state).toBe('pending');
    }
  });

  it.each([
    ['look-ups that brought no documented absence', null],
    ['documented absence while the create may have been under way', new Date(NOW.getTime() - 1)],
  ])('because it was not created is not believed after %s', (_name, absentAt) => {
    for (const state of ['unknown', 'held'] as const) {
      const why = refused(state, { kind: 'not-created' }, { absentAt });
      expect(why).toMatch(/2026-01-05T12:00:00\.000Z.*sync.*exchange\.absence.*--i-know-it-may-duplicate/);
    }
  });

  it('because it was not created is believed if it is not known when it was sent', () => {
    const notSent = { sentAt: null, absentAt: null, forbiddenIn: 3 };
    expect(decided('held', { kind: 'not-created' }, notSent).tracking).toMatchObject({
      state: 'pending',
      forbiddenIn: 3,
    });
    expect(decided('held', retry(true), { forbiddenIn: 3 }).tracking?.forbiddenIn).toBe(0);
  });

  it('because it was not created is not believed if an accepted order is not found either', () => {
    const why = refused('held', { kind: 'not-created' }, {}, SETTINGS, 'shop-1');
    expect(why).toMatch(/"shop-1".*"a".*--i-know-it-may-duplicate/);
  });

  it('because it was not created is believed whatever look-ups brought, if two pre-orders would do no harm', () => {
    const judgement = { kind: 'not-created', mayDuplicate: true } as const;
    const doubtful = { sentAt: NOW, absentAt: null };
    expect(decide('held', judgement, doubtful, SETTINGS, 'shop-1')).toMatchObject({ ok: true, to: 'pending' });
  });

  it.each<Judgement>([{ kind: 'not-created' }, retry(true)])(
    'by $kind remembers how often, as the exchange may have taken an earlier create all the same',
    (judgement) => {
      const again = [0, 1].map((resends) => decided('held', judgement, { resends }).tracking?.resends);
      expect(again).toEqual([1, 2]);
    },
  );
});

describe('an order that waits to be sent', () => {
  it.each(JUDGEMENTS)('again, after its outcome was not known, is not decided about before: $kind', (judgement) => {
    const why = refused('pending', judgement, { resends: 1 });
    expect(why).toMatch(/^it waits to be sent again.*pause/);
    expect(why).not.toContain('allowed:');
  });

  it('again, as it was proved not taken, can be cancelled', () => {
    expect(decided('pending', { kind: 'cancel' }, { attempts: 3 }).tracking?.state).toBe('cancelled');
  });
});

describe('an order that a person ended', () => {
  it.each([
    ['pending', { kind: 'cancel' }],
    ['held', { kind: 'abandoned' }],
  ] as const)('from %s is looked at again as a final one is, in case an order appears', (state, judgement) => {
    const { tracking } = decided(state, judgement, { rechecks: 2 });
    expect(tracking).toMatchObject({ rechecks: 0, nextActionAt: new Date(NOW.getTime() + HOUR) });
    expect(decided(state, judgement, {}, { ...SETTINGS, recheckFinalAfter: [] }).tracking?.nextActionAt).toBeNull();
  });
});

describe('a decision on an order that a fail-over left in doubt', () => {
  const inDoubt = (judgement: Judgement) => {
    const tracking = trackingWith({ state: 'held', sentAt: SENT, lastLookupAt: NOW, absentAt: NOW, attempts: 1 });
    const made = decideByOperator(tracking, { judgement, ...WHO }, NOW, SETTINGS, { doubt: 'the fail-over 7' });
    return made.ok ? made.to : made.why;
  };

  it.each<[Judgement, string]>([
    [{ kind: 'not-created' }, 'the fail-over 7'],
    [{ kind: 'not-created', mayDuplicate: true }, 'pending'],
    [{ kind: 'retry', mayDuplicate: false }, 'the fail-over 7'],
    [{ kind: 'retry', mayDuplicate: true }, 'pending'],
    [{ kind: 'exists', preOrderId: 'p1' }, 'accepted'],
    [{ kind: 'abandoned' }, 'abandoned'],
  ])('is refused if it sends the order again, unless a second order is accepted: %o', (judgement, outcome) => {
    expect(inDoubt(judgement)).toBe(outcome);
  });
});

describe('an obstacle to sending an order again', () => {
  const obstacle = (kind: Judgement['kind'], changes: Partial<Tracking> = {}, evidence: DecisionEvidence = {}) =>
    obstacleTo(kind, trackingWith({ state: 'held', sentAt: SENT, absentAt: NOW, ...changes }), NOW, evidence);
  const TOO_EARLY = { sentAt: NOW, absentAt: null };
  const OTHER_ABSENT = { acceptedAndAbsent: 'shop-1' };

  it.each<[string, ...Parameters<typeof obstacle>]>([
    ['a documented absence proves that it was not created', 'not-created'],
    ['it was never sent', 'not-created', { sentAt: null, absentAt: null }],
    ['the exchange rejected it', 'retry', { state: 'rejected' }],
    ['the decision does not send it', 'abandoned', TOO_EARLY, { doubt: 'the fail-over 7', ...OTHER_ABSENT }],
  ])('is not there if %s', (_name, ...input) => {
    expect(obstacle(...input)).toBeUndefined();
  });

  it.each<[string, RegExp, ...Parameters<typeof obstacle>]>([
    ['a person decides about the fail-over', /^the fail-over 7$/, 'retry', {}, { doubt: 'the fail-over 7' }],
    ['a create cannot arrive any more', /may still arrive$/, 'not-created', TOO_EARLY],
    ['a create cannot arrive any more', /may still arrive$/, 'not-created', TOO_EARLY, OTHER_ABSENT],
  ])('is temporary until %s', (_name, why, ...input) => {
    expect(obstacle(...input)).toEqual({ why: expect.stringMatching(why) as string, isTemporary: true });
  });

  it.each<[string, RegExp, ...Parameters<typeof obstacle>]>([
    ['it is not known whether the exchange took it', /orders resolve$/, 'retry'],
    ['no look-up brought a documented absence', /exchange\.absence/, 'not-created', { absentAt: null }],
    ['absence proves nothing', /"shop-1".*"a"/, 'not-created', {}, OTHER_ABSENT],
    ['absence proves nothing', /"shop-1".*"a"/, 'not-created', { absentAt: null }, OTHER_ABSENT],
  ])('lasts if %s', (_name, why, ...input) => {
    expect(obstacle(...input)).toEqual({ why: expect.stringMatching(why) as string, isTemporary: false });
  });
});
