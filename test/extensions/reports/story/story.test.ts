import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINDING_CLASSES } from '../../../../src/findings/rules/classes.ts';
import { ORDER_STATES, type OrderState } from '../../../../src/orders/rules/states.ts';
import {
  type StoryEvent,
  type StoryEvidence,
  type StoryFinding,
  type StoryOrder,
  type StoryPace,
  isCommand,
} from '../../../../src/extensions/reports/story/next.ts';
import { buildStory } from '../../../../src/extensions/reports/story/story.ts';
import { SETTINGS } from '../../../support/tracking.ts';

const BEGIN = Date.parse('2026-01-05T12:00:00.000Z');
const at = (seconds: number) => new Date(BEGIN + seconds * 1_000).toISOString();

const ORDER: StoryOrder = {
  account: 'default',
  externalOrderId: 'a',
  createdAt: at(0),
  updatedAt: at(0),
  nextActionAt: null,
  lastLookupAt: null,
  preOrderId: 'p1',
  asset: '1.50',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  verifications: 0,
  outcome: null,
  adoptedAt: null,
};
const FINDING: StoryFinding = {
  class: 'AMOUNT_MISMATCH',
  severity: 'error',
  expected: '1.5',
  actual: '1.6',
  firstSeenAt: at(10),
  lastSeenAt: at(10),
  resolvedAt: null,
  changedBy: null,
  changedAt: null,
  reason: null,
};

function event(seconds: number, changes: Partial<StoryEvent>): StoryEvent {
  return {
    field: 'state',
    oldValue: 'pending',
    newValue: 'sending',
    observedAt: at(seconds),
    exchangeTime: null,
    source: 'create',
    reason: null,
    actor: null,
    ...changes,
  };
}

function evidence(changes: Partial<StoryEvidence> = {}): StoryEvidence {
  return { order: ORDER, events: [], record: null, keptAnswers: [], findings: [], holds: [], stop: null, ...changes };
}

const tell = (given: StoryEvidence, seconds = 1_000) => buildStory(given, new Date(at(seconds)), SETTINGS);
const texts = (given: StoryEvidence) => tell(given).told.map(({ text }) => text);

describe('an order whose account is held', () => {
  const hold = { kind: 'creates-paused', since: at(5), until: null, reason: 'maintenance', actor: 'ann' } as const;

  it('waits for the hold, where that stops what comes next', () => {
    const held = evidence({ holds: [hold, { ...hold, kind: 'rate-limited', until: at(90), actor: null }] });
    const waits = tell(held).next.filter((line) => line.startsWith('It waits'));
    expect(waits).toEqual([
      expect.stringMatching(/creates-paused.* by ann: maintenance; .*resume/),
      expect.stringContaining(`rate-limited`),
    ]);
    expect(tell(held).next.join()).not.toContain('as soon as a pass runs');
    const accepted = [event(1, {}), event(2, { oldValue: 'sending', newValue: 'accepted' })];
    const followed = tell({ ...held, events: accepted }).next.filter((line) => line.startsWith('It waits'));
    expect(followed).toEqual([expect.stringContaining('rate-limited')]);
  });

  it('did not wait before the hold began', () => {
    expect(tell(evidence({ holds: [hold] }), 4).next.join()).not.toContain('It waits');
  });
});

describe('an order whose account stands in no settings', () => {
  const untold = (events: readonly StoryEvent[], seconds = 1_000) =>
    buildStory(evidence({ events }), new Date(at(seconds)), { ...SETTINGS, isDriven: false }).next;

  it('is neither sent nor looked up, and can still be decided about', () => {
    const [pending, ...more] = untold([]);
    expect(pending).toMatch(/^It is not sent: the account default /);
    expect(more.filter(isCommand)).toHaveLength(1);
    const accepted = [event(1, {}), event(2, { oldValue: 'sending', newValue: 'accepted' })];
    const followed = untold(accepted);
    expect(followed[0]).toMatch(/^It is not looked up: the account default /);
    expect([...untold([]), ...followed].join()).not.toContain('as soon as a pass runs');
  });

  it('has ended where it has ended', () => {
    const final = [event(1, {}), event(2, { oldValue: 'sending', newValue: 'final' })];
    expect(untold(final).join()).not.toContain('settings');
  });
});

describe('an order that is looked up at a pace', () => {
  const accepted = [event(1, {}), event(2, { oldValue: 'sending', newValue: 'accepted' })];
  const order = { ...ORDER, updatedAt: at(2), nextActionAt: at(1_010) };
  const stay = { status: 'accepted', since: at(640) } as const;
  const line = (pace: StoryPace, changes: Partial<StoryEvidence> = {}) => {
    const { next } = tell(evidence({ order, events: accepted, pace, ...changes }));
    return next[next.findIndex((one) => one.includes(at(1_010))) + 1];
  };

  it('is compared with the stays of others in the same status', () => {
    const learned = { kind: 'learned', ...stay, stays: 1_204, halfMs: 240_000 } as const;
    expect(line(learned)).toMatch(/\b1,204 .*\baccepted\b.*\b4 min\b.*\b6 min\b/);
    expect(line({ ...learned, halfMs: Number.POSITIVE_INFINITY })).not.toMatch(/Infinity|NaN/);
    expect(line({ ...learned, stays: 9 })).not.toContain('4 min');
  });

  it('says since when its look-up is due, where others went before it for more than a minute', () => {
    const [first] = tell(evidence({ order: { ...order, nextActionAt: at(900) }, events: accepted })).next;
    expect(first).toContain(at(900));
    const [soon] = tell(evidence({ order: { ...order, nextActionAt: at(950) }, events: accepted })).next;
    expect(soon).not.toContain(at(950));
  });

  it('is looked up as the settings say where they say it', () => {
    expect(line({ kind: 'every-tick', ...stay })).toContain('schedule.cron');
  });

  it('has no pace in the past, nor where nothing looks it up', () => {
    const pace = { kind: 'every-tick', ...stay } as const;
    const given = evidence({ order, events: accepted, pace });
    const hold = { kind: 'all-paused', since: at(5), until: null, reason: 'maintenance', actor: 'ann' } as const;
    expect(tell(given).pace).toEqual(pace);
    expect(tell(given, 1).pace).toBeNull();
    expect(tell({ ...given, holds: [hold] }).pace).toBeNull();
    expect(tell({ ...given, order: { ...order, nextActionAt: null } }).pace).toBeNull();
  });
});

describe('an order that a person has sent again', () => {
  const again = [
    event(1, {}),
    event(2, { oldValue: 'sending', newValue: 'unknown', reason: 'reset' }),
    event(3, { oldValue: 'unknown', newValue: 'held', source: 'operator', actor: 'anna', reason: 'hurry' }),
    event(3, { oldValue: 'held', newValue: 'pending', source: 'operator', actor: 'anna', reason: 'hurry' }),
  ];

  it('is not said to be one that can be cancelled', () => {
    expect(tell(evidence({ events: again })).next).toEqual([
      'It is sent again as soon as a pass runs.',
      'It cannot be cancelled: the exchange may have taken it before.',
    ]);
  });

  it.each([
    ['open', 'The exchange has the order after all, so it is not sent again; it is followed.'],
    ['final', 'The exchange has the order after all, so it is not sent again; it is final.'],
  ])('and that a look-up under way found %s is said not to be sent again', (newValue, sentence) => {
    const found = event(4, { oldValue: 'pending', newValue, source: 'lookup' });
    expect(texts(evidence({ events: [...again, found] })).slice(-1)).toEqual([sentence]);
  });
});

describe('a request that never left', () => {
  const back = event(2, { oldValue: 'sending', newValue: 'pending', reason: 'not sent: ECONNREFUSED' });

  it('is not said to have gone out, and the order is not said to be sent again', () => {
    const given = evidence({ events: [event(1, {}), back] });
    expect(texts(given).slice(1)).toEqual([
      'Create request 1 was about to go out.',
      'The request never left: ECONNREFUSED. It waits to be sent.',
    ]);
    expect(tell(given).next[0]).toBe('It is sent as soon as a pass runs.');
  });

  it('differs from one that the exchange did not take', () => {
    const given = evidence({ events: [event(1, {}), { ...back, reason: 'not taken: 429' }] });
    expect(texts(given).at(-1)).toBe('It waits to be sent again: not taken: 429.');
    expect(tell(given).next[0]).toBe('It is sent again as soon as a pass runs.');
  });
});

describe('a command in a story', () => {
  const commands = (externalOrderId: string, newValue: OrderState) =>
    tell(evidence({ order: { ...ORDER, externalOrderId }, events: [event(1, { newValue })] })).next.filter(isCommand);

  it('is whole, with the id as a shell takes it', () => {
    expect(commands("o'clock & more", 'held')).toEqual([
      String.raw`order-sync lookup 'o'\''clock & more'`,
      String.raw`order-sync orders resolve 'o'\''clock & more' --as exists --pre-order-id PRE_ORDER_ID --reason TEXT`,
      String.raw`order-sync orders resolve 'o'\''clock & more' --as not-created --reason TEXT`,
      String.raw`order-sync orders resolve 'o'\''clock & more' --as abandoned --reason TEXT`,
    ]);
    expect(commands('=1', 'rejected')).toEqual([`order-sync orders retry '=1' --reason TEXT`]);
    expect(commands('-v', 'rejected')).toEqual(['order-sync orders retry --reason TEXT -- -v']);
  });

  it('names the account of the order where that is not the default one', () => {
    const order = { ...ORDER, account: 'shop-1' };
    const given = evidence({ order, events: [event(1, { newValue: 'rejected' })] });
    expect(tell(given).next.filter(isCommand)).toEqual(['order-sync orders retry a --reason TEXT --account shop-1']);
  });
});

describe('an adopted order', () => {
  it('is said to have been at the exchange already', () => {
    const found = event(4, { oldValue: 'pending', newValue: 'open', source: 'lookup' });
    const adopted = evidence({ order: { ...ORDER, adoptedAt: at(4) }, events: [found] });
    expect(texts(adopted).slice(-1)).toEqual(['The order was adopted: the exchange had it already; it is followed.']);
  });
});

describe('a finding in a story', () => {
  it('is advice until it is acknowledged or no longer true', () => {
    const { meaning, advice: toDo } = FINDING_CLASSES.AMOUNT_MISMATCH;
    const advice = `A person should look at finding AMOUNT_MISMATCH: ${toDo}`;
    const acknowledged = evidence({
      findings: [{ ...FINDING, changedBy: 'anna', changedAt: at(20), reason: 'settled' }],
    });
    expect(tell(acknowledged, 9).next).not.toContain(advice);
    expect(tell(acknowledged, 10).next).toContain(advice);
    expect(tell(acknowledged, 19).next).toContain(advice);
    expect(tell(acknowledged, 20).next).not.toContain(advice);
    expect(texts(acknowledged).slice(1)).toEqual([
      `Finding AMOUNT_MISMATCH (error): ${meaning} Expected: 1.5; is: 1.6.`,
      'anna acknowledged finding AMOUNT_MISMATCH: settled',
    ]);
    const resolved = evidence({ findings: [{ ...FINDING, lastSeenAt: at(15), resolvedAt: at(20) }] });
    expect(tell(resolved, 19).next).toContain(advice);
    expect(tell(resolved, 20).next).not.toContain(advice);
    expect(texts(resolved).slice(1)).toEqual([
      `Finding AMOUNT_MISMATCH (error): ${meaning}`,
      'Finding AMOUNT_MISMATCH was seen again. Expected: 1.5; is: 1.6.',
      'Finding AMOUNT_MISMATCH is no longer true.',
    ]);
  });

  it('has one entry where the history has it too, and one where only the history has it', () => {
    const seen = event(10, { field: 'finding', oldValue: null, newValue: 'AMOUNT_MISMATCH', reason: 'they differ' });
    expect(texts(evidence({ events: [seen], findings: [FINDING] }))).toHaveLength(2);
    expect(texts(evidence({ events: [seen] }))).toContain('Finding AMOUNT_MISMATCH: they differ.');
  });

  it('of a class that this version does not know has an entry, too', () => {
    const { told, next } = tell(evidence({ findings: [{ ...FINDING, class: 'FROM_TOMORROW' }] }));
    expect(told[1]?.text).toBe('Finding FROM_TOMORROW (error). Expected: 1.5; is: 1.6.');
    expect(next.at(-1)).toBe('A person should look at finding FROM_TOMORROW: this version does not know it.');
  });
});

describe('a change in a story', () => {
  it.each([
    [{ field: 'order.status', oldValue: null, newValue: 'REQUEST' }, 'The status of the order is REQUEST.'],
    [
      { field: 'fiatTransaction.status', oldValue: 'NEW', newValue: 'PAID', exchangeTime: 'noon' },
      'The status of the fiat transaction went from NEW to PAID (the exchange dates it noon).',
    ],
    [
      { field: 'cryptoTransaction.status', oldValue: 'NEW', newValue: null },
      'The status of the crypto transaction is not given any more; it was NEW.',
    ],
    [{ field: 'record.ratio', oldValue: '1.10', newValue: null }, 'The ratio of the record went from 1.10 to nothing.'],
    [{ field: 'record.link', oldValue: null, newValue: 'changed' }, 'The link of the record changed.'],
    [{ field: 'record.other', oldValue: null, newValue: 'x, y' }, 'Other fields of the record changed: x, y.'],
    [{ field: 'new.field', oldValue: '1', newValue: null, reason: 'so' }, 'new.field went from 1 to nothing: so.'],
    [
      { oldValue: 'cancelled', newValue: 'final' },
      'The exchange has an order all the same, although the row was cancelled; it is final.',
    ],
  ])('%j', (changes, sentence) => {
    expect(texts(evidence({ events: [event(1, changes)] }))[1]).toBe(sentence);
  });

  it('numbers creates as they were recorded, also where the clock was set back in between', () => {
    const events = [event(20, {}), event(21, { oldValue: 'sending', newValue: 'pending' }), event(10, {})];
    const given = evidence({ events });
    expect(tell(given, 15).told.at(-1)?.text).toBe('Create request 2 was about to go out.');
    expect(tell(given).told.map(({ text }) => text.match(/request \d/)?.[0])).toEqual([
      undefined,
      'request 2',
      'request 1',
      undefined,
    ]);
  });
});

describe('a look-up in a story', () => {
  it('that found nothing has an entry with the number of look-ups that are spent', () => {
    const events = [event(1, {}), event(2, { oldValue: 'sending', newValue: 'unknown' })];
    const order = { ...ORDER, lastLookupAt: at(7), verifications: 1 };
    expect(texts(evidence({ order, events })).at(-1)).toBe('A look-up found no order; 1 of 10 look-ups are spent.');
  });

  it('that brought a record which cannot be read says so, and not that there is no order', () => {
    const record = { receivedAt: at(7), view: undefined };
    const told = texts(evidence({ order: { ...ORDER, lastLookupAt: at(9) }, record })).slice(-2);
    expect(told).toEqual([
      'The newest record came; it cannot be read.',
      'A look-up brought no newer record of the order.',
    ]);
  });

  it('that brought the newest record shows its values', () => {
    const view = {
      orderId: 'o1',
      orderNumber: '77',
      inputAsset: '1.50',
      outputAsset: '60000',
      fromCurrency: 'BTC',
      toCurrency: 'EUR',
      ratio: '40000',
      fee: '0.001',
    };
    const record = { receivedAt: at(7), view };
    const told = texts(evidence({ order: { ...ORDER, lastLookupAt: at(7) }, record }));
    expect(told.at(-1)).toBe(
      'The newest record came: order o1 (number 77), 1.50 BTC in, 60000 EUR out, ratio 40000, fee 0.001.',
    );
    expect(texts(evidence({ order: { ...ORDER, lastLookupAt: at(9) }, record })).at(-1)).toBe(
      'A look-up brought no newer record of the order.',
    );
  });
});

describe('what happens next', () => {
  it.each(ORDER_STATES.map((state) => ({ state })))(
    'is told of an order that is $state, now and of the past',
    ({ state }) => {
      const events = state === 'pending' ? [] : [event(5, { newValue: state })];
      const due = { ...ORDER, updatedAt: at(5), nextActionAt: at(2_000) };
      const now = tell(evidence({ order: due, events }));
      const past = tell(evidence({ order: { ...due, updatedAt: at(1_001) }, events }));
      expect([now.state, past.state]).toEqual([state, state]);
      expect(now.next.length).toBeGreaterThan(0);
      const isTimed = !['sending', 'invalid'].includes(state);
      expect(now.next.join(' ').includes(` at ${at(2_000)}`)).toBe(isTimed);
      // The time that the row bears now is none that the past knew.
      expect(past.next.join(' ')).not.toContain(at(2_000));
    },
  );

  it.each([
    ['unknown', 7, '2026-01-05T12:00:10.000Z'],
    ['unknown', 11, '2026-01-05T12:00:20.000Z'],
    ['held', 86_405, '2026-01-07T12:00:05.000Z'],
    ['final', 100, '2026-01-05T13:00:05.000Z'],
  ] as const)('of the past goes by the plan: %s at second %i', (state, seconds, expected) => {
    const order = { ...ORDER, updatedAt: at(900_000) };
    const given = evidence({ order, events: [event(5, { newValue: state })] });
    expect(tell(given, seconds).next.join(' ')).toContain(`next by ${expected} if nothing delays it`);
  });

  it('is a pass where the time has come', () => {
    const due = evidence({ order: { ...ORDER, nextActionAt: at(990) } });
    expect(tell(due).next[0]).toBe('It is sent as soon as a pass runs.');
    expect(tell({ ...due, events: [event(0, { newValue: 'open' })] }).next[0]).toBe(
      'It is followed to its end, next as soon as a pass runs.',
    );
  });

  it('says that an unknown outcome may be sent once more where the settings say so', () => {
    const events = [event(1, { newValue: 'unknown' })];
    const [line] = buildStory(evidence({ events }), new Date(at(2)), { ...SETTINGS, onUnknown: 'resend' }).next;
    expect(line).toContain('if no look-up finds an order it is sent once more or held for a person');
  });
});

describe('the story of an earlier moment', () => {
  const seconds = fc.integer({ min: 0, max: 100 });
  const maybe = fc.option(seconds.map(at), { nil: null });
  const events = fc.array(
    fc.record({
      when: seconds,
      newValue: fc.constantFrom<OrderState>(...ORDER_STATES),
      source: fc.constantFrom('create', 'lookup', 'operator'),
    }),
    { maxLength: 8 },
  );
  const findings = fc.array(
    fc.record({ firstSeenAt: seconds.map(at), lastSeenAt: seconds.map(at), resolvedAt: maybe, changedAt: maybe }),
    { maxLength: 3 },
  );

  it('is how that of a later one begins, whatever happened', () => {
    fc.assert(
      fc.property(events, findings, maybe, seconds, seconds, (happened, found, lastLookupAt, one, other) => {
        const given = evidence({
          order: { ...ORDER, lastLookupAt, updatedAt: at(100) },
          events: happened.map(({ when, ...changes }) => event(when, changes)),
          findings: found.map((changes) => ({ ...FINDING, ...changes })),
        });
        const [early, late] = [Math.min(one, other), Math.max(one, other)];
        const before = tell(given, early).told;
        expect(tell(given, late).told.slice(0, before.length)).toEqual(before);
        expect(
          tell(given, late)
            .told.slice(before.length)
            .every(({ at: when }) => when > at(early)),
        ).toBe(true);
      }),
    );
  });
});
