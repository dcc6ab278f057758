import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classTexts } from '../../../../src/extensions/operate/finding-classes.ts';
import { ORDER_STATES, type OrderState } from '../../../../src/orders/rules/states.ts';
import { isCommand, type Spacing } from '../../../../src/extensions/reports/story/next.ts';
import { adviceOn, buildStory } from '../../../../src/extensions/reports/story/story.ts';
import type {
  StoryEvent,
  StoryEvidence,
  StoryFinding,
  StoryOrder,
} from '../../../../src/extensions/reports/tables/story.ts';
import { recordWith } from '../../../support/records.ts';
import {
  decideByOperator,
  obstacleTo,
  type DecisionEvidence,
} from '../../../../src/extensions/operate/rules/judgement.ts';
import { SETTINGS, trackingWith } from '../../../support/tracking.ts';

const BEGIN = Date.parse('2026-01-05T12:00:00.000Z');
const DUPLICATE = '--as not-created --i-know-it-may-duplicate --reason';
const at = (seconds: number) => new Date(BEGIN + seconds * 1_000).toISOString();

const ORDER: StoryOrder = {
  account: 'default',
  external_order_id: 'a',
  revision: 1,
  created_at: at(0),
  updated_at: at(0),
  next_action_at: null,
  last_lookup_at: null,
  pre_order_id: 'p1',
  asset: '1.50',
  asset_position: 'INPUT',
  from_currency: 'BTC',
  to_currency: 'EUR',
  verifications: 0,
  outcome: null,
  adopted_at: null,
  sent_at: null,
  absent_at: null,
};
const FINDING: StoryFinding = {
  id: 1,
  class: 'AMOUNT_MISMATCH',
  severity: 'error',
  expected: '1.5',
  actual: '1.6',
  first_seen_at: at(10),
  last_seen_at: at(10),
  resolved_at: null,
  changed_by: null,
  changed_at: null,
  reason: null,
};

function event(seconds: number, changes: Partial<StoryEvent>): StoryEvent {
  return {
    field: 'state',
    old_value: 'pending',
    new_value: 'sending',
    observed_at: at(seconds),
    exchange_time: null,
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

  it('waits for the hold, if that stops the next step', () => {
    const held = evidence({ holds: [hold, { ...hold, kind: 'rate-limited', until: at(90), actor: null }] });
    const waits = tell(held).next.filter((line) => line.startsWith('The order is not'));
    expect(waits).toEqual([
      expect.stringMatching(/creates-paused.* by ann: maintenance; .*resume/),
      expect.stringContaining(`since ${at(5)} because maintenance; the wait lasts until ${at(90)}`),
    ]);
    expect(tell(held).next.join()).not.toContain('when the next pass runs');
    const accepted = [event(1, {}), event(2, { old_value: 'sending', new_value: 'accepted' })];
    const followed = tell({ ...held, events: accepted }).next.filter((line) => line.startsWith('The order is not'));
    expect(followed).toEqual([expect.stringContaining(`until ${at(90)}`)]);
  });

  it('waits for the key, with advice on the key and no time in the past', () => {
    const refused = { ...hold, kind: 'key-refused', until: at(90), actor: null, reason: 'refused' } as const;
    const [waits, ...more] = tell(evidence({ holds: [refused] })).next;
    expect(waits).not.toContain(at(90));
    expect(more[0]).toContain('the right key');
    const later = evidence({ order: { ...ORDER, updated_at: at(2_000) }, holds: [refused] });
    expect(tell(later).next.join()).not.toContain('the right key');
  });

  it.each(['unknown', 'held', 'accepted', 'open', 'disputed', 'final', 'rejected', 'cancelled', 'abandoned'])(
    'is not said to be looked up all the same: %s',
    (new_value) => {
      const paused = { ...hold, kind: 'all-paused' } as const;
      const order = { ...ORDER, next_action_at: at(900) };
      const { next } = tell(evidence({ order, events: [event(1, { new_value })], holds: [paused] }));
      expect(next.filter((line) => line.includes('all-paused'))).toHaveLength(1);
      expect(next.join()).not.toMatch(/is (looked up|followed)/);
    },
  );

  it.each(['held', 'disputed', 'rejected'])(
    'begins with what a person can decide, and not with the hold: %s',
    (new_value) => {
      const order = { ...ORDER, next_action_at: at(900) };
      const holds = [{ ...hold, kind: 'all-paused' } as const];
      const { next } = tell(evidence({ order, events: [event(1, { new_value })], holds }));
      expect(next.findIndex((line) => line.includes('all-paused'))).toBeGreaterThan(next.findIndex(isCommand));
    },
  );

  it('does not wait if nothing more is looked up', () => {
    const paused = { ...hold, kind: 'all-paused' } as const;
    const next = (new_value: string) => tell(evidence({ events: [event(1, { new_value })], holds: [paused] })).next;
    expect(next('abandoned').join()).not.toContain('all-paused');
    expect(next('disputed').join()).not.toContain('all-paused');
    expect(next('disputed')).toContain('order-sync sync');
  });

  it('did not wait before the hold began', () => {
    expect(tell(evidence({ holds: [hold] }), 4).next.join()).not.toContain('The order is not');
  });
});

describe('an order whose account stands in no settings', () => {
  const untold = (events: StoryEvent[], seconds = 1_000) =>
    buildStory(evidence({ events }), new Date(at(seconds)), { ...SETTINGS, isDriven: false }).next;

  it('is neither sent nor looked up, and can still be decided about', () => {
    const [pending, ...more] = untold([]);
    expect(pending).toMatch(/^The order is not sent: the settings .* account default/);
    expect(more.filter(isCommand)).toHaveLength(1);
    const accepted = [event(1, {}), event(2, { old_value: 'sending', new_value: 'accepted' })];
    const followed = untold(accepted);
    expect(followed[0]).toMatch(/^The order is not looked up: the settings .* account default/);
    expect([...untold([]), ...followed].join()).not.toContain('when the next pass runs');
  });

  it('has ended if it has ended', () => {
    const final = [event(1, {}), event(2, { old_value: 'sending', new_value: 'final' })];
    expect(untold(final).join()).not.toContain('settings');
  });
});

describe('an order that is looked up at a pace', () => {
  const accepted = [event(1, {}), event(2, { old_value: 'sending', new_value: 'accepted' })];
  const order = { ...ORDER, updated_at: at(2), next_action_at: at(1_010) };
  const spacing: Spacing = { facts: { kind: 'every-tick' }, text: 'It is looked up at each tick.' };
  const spaced = (given: StoryEvidence, seconds = 1_000) =>
    buildStory(given, new Date(at(seconds)), { ...SETTINGS, spacing });

  it('says so behind when it is looked up next', () => {
    const { next } = spaced(evidence({ order, events: accepted }));
    expect(next[next.findIndex((one) => one.includes(at(1_010))) + 1]).toBe(spacing.text);
  });

  it('says since when its look-up is due, if others went before it for more than a minute', () => {
    const [first] = tell(evidence({ order: { ...order, next_action_at: at(900) }, events: accepted })).next;
    expect(first).toContain(at(900));
    const [soon] = tell(evidence({ order: { ...order, next_action_at: at(950) }, events: accepted })).next;
    expect(soon).not.toContain(at(950));
  });

  it('has no pace in the past, nor if nothing looks it up', () => {
    const given = evidence({ order, events: accepted });
    const hold = { kind: 'all-paused', since: at(5), until: null, reason: 'maintenance', actor: 'ann' } as const;
    expect(spaced(given).pace).toEqual(spacing.facts);
    expect(spaced(given, 1).pace).toBeNull();
    expect(spaced({ ...given, holds: [hold] }).pace).toBeNull();
    expect(spaced({ ...given, order: { ...order, next_action_at: null } }).pace).toBeNull();
  });
});

describe('an order that a person has sent again', () => {
  const again = [
    event(1, {}),
    event(2, { old_value: 'sending', new_value: 'unknown', reason: 'reset' }),
    event(3, { old_value: 'unknown', new_value: 'held', source: 'operator', actor: 'anna', reason: 'hurry' }),
    event(3, { old_value: 'held', new_value: 'pending', source: 'operator', actor: 'anna', reason: 'hurry' }),
  ];

  it('is not said to be one that can be cancelled', () => {
    expect(tell(evidence({ events: again })).next).toEqual([
      'The order is sent again when the next pass runs.',
      'The order cannot be cancelled: the exchange may already have it. To stop all creates of the account:',
      'order-sync pause --reason TEXT',
    ]);
  });

  it.each([
    ['open', 'The exchange has the order after all, so it is not sent again. order-sync follows it.'],
    ['final', 'The exchange has the order after all, so it is not sent again. It has ended there.'],
  ])('and that a look-up under way found %s is said not to be sent again', (new_value, sentence) => {
    const found = event(4, { old_value: 'pending', new_value, source: 'lookup' });
    expect(texts(evidence({ events: [...again, found] })).slice(-1)).toEqual([sentence]);
  });
});

describe('an order that waits to be sent', () => {
  const tries = [3, 5, 9].flatMap((seconds) => [
    event(seconds, {}),
    event(seconds + 1, { old_value: 'sending', new_value: 'pending', reason: 'not taken: 401' }),
  ]);

  it('has waited since its row came or was corrected, and not since the last create that was not taken', () => {
    expect(tell(evidence({ events: tries })).headline).toContain('since 2026-01-05T12:00:00');
    const corrected = event(2, { old_value: 'invalid', new_value: 'pending', source: 'import' });
    expect(tell(evidence({ events: [corrected, ...tries] })).headline).toContain('since 2026-01-05T12:00:02');
  });
});

describe('a request that never left', () => {
  const back = event(2, { old_value: 'sending', new_value: 'pending', reason: 'not sent: ECONNREFUSED' });

  it('is not said to have gone out, and the order is not said to be sent again', () => {
    const given = evidence({ events: [event(1, {}), back] });
    expect(texts(given).slice(1)).toEqual([
      'order-sync began create request 1.',
      'The request did not leave this machine: ECONNREFUSED. The order waits to be sent.',
    ]);
    expect(tell(given).next[0]).toBe('The order is sent when the next pass runs.');
  });

  it('differs from one that the exchange did not take', () => {
    const given = evidence({ events: [event(1, {}), { ...back, reason: 'not taken: 429' }] });
    expect(texts(given).at(-1)).toBe('The order waits to be sent again: not taken: 429.');
    expect(tell(given).next[0]).toBe('The order is sent again when the next pass runs.');
  });
});

describe('a command in a story', () => {
  it.each(ORDER_STATES)('is told from a sentence: %s', (new_value) => {
    const { next } = tell(evidence({ events: [event(1, { new_value })], findings: [FINDING] }));
    expect(next.filter((line) => isCommand(line) === /[.:]$/.test(line))).toEqual([]);
  });

  const commands = (externalOrderId: string, new_value: OrderState) =>
    tell(
      evidence({ order: { ...ORDER, external_order_id: externalOrderId }, events: [event(1, { new_value })] }),
    ).next.filter(isCommand);

  it('is whole, with the id as a shell takes it', () => {
    expect(commands("o'clock & more", 'held')).toEqual([
      String.raw`order-sync orders resolve 'o'\''clock & more' --as exists --pre-order-id PRE_ORDER_ID --reason TEXT`,
      String.raw`order-sync orders resolve 'o'\''clock & more' --as not-created --reason TEXT`,
      String.raw`order-sync orders resolve 'o'\''clock & more' --as abandoned --reason TEXT`,
      String.raw`order-sync exchange lookup 'o'\''clock & more'`,
    ]);
    expect(commands('=1', 'rejected')).toEqual([`order-sync orders retry '=1' --reason TEXT`]);
    expect(commands('-v', 'rejected')).toEqual(['order-sync orders retry --reason TEXT -- -v']);
  });

  it('names the account of the order if that is not the default one', () => {
    const order = { ...ORDER, account: 'shop-1' };
    const given = evidence({ order, events: [event(1, { new_value: 'rejected' })] });
    expect(tell(given).next.filter(isCommand)).toEqual(['order-sync orders retry a --reason TEXT --account shop-1']);
  });
});

describe('an order that a person has decided about', () => {
  it('has been so since an unknown time', () => {
    const sent = [event(1, {}), event(2, { old_value: 'sending', new_value: 'held' })];
    const decided = event(3, { old_value: 'held', new_value: 'accepted', source: 'operator', actor: 'anna' });
    expect(tell(evidence({ events: [...sent, decided] })).headline).not.toContain('since');
    expect(tell(evidence({ events: sent })).headline).toContain('since');
  });
});

describe('the decision of a person', () => {
  const sent = [event(1, {}), event(2, { old_value: 'sending', new_value: 'unknown' })];
  const byAnna = { source: 'operator', actor: 'anna' } as const;

  it('about an unknown outcome is told once', () => {
    const decided = [
      event(3, { old_value: 'unknown', new_value: 'held', ...byAnna }),
      event(3, { old_value: 'held', new_value: 'accepted', ...byAnna }),
    ];
    expect(texts(evidence({ events: [...sent, ...decided] })).filter((text) => text.startsWith('anna'))).toEqual([
      expect.stringContaining('p1'),
    ]);
  });

  it('to check an invalid row again is none to send an order again', () => {
    const again = event(3, { old_value: 'invalid', new_value: 'pending', ...byAnna });
    expect(texts(evidence({ events: [again] })).at(-1)).not.toContain('again (');
  });

  it('to give up an order that another one contradicts leaves the own order to be inserted anew', () => {
    const given = (old_value: string) =>
      tell(evidence({ events: [event(3, { old_value, new_value: 'abandoned', ...byAnna })] })).next.join();
    expect(given('disputed')).toContain('new id');
    expect(given('held')).not.toContain('new id');
  });
});

describe('an order that appears', () => {
  it('has appeared before it has a status', () => {
    const events = [
      event(3, { field: 'order.status', old_value: null, new_value: 'REQUEST', source: 'lookup' }),
      event(3, { old_value: 'accepted', new_value: 'open', source: 'lookup' }),
    ];
    expect(texts(evidence({ events })).slice(1)).toEqual([
      expect.stringContaining('appeared'),
      expect.stringContaining('REQUEST'),
    ]);
  });
});

describe('an adopted order', () => {
  it('is said to have been at the exchange already', () => {
    const found = event(4, { old_value: 'pending', new_value: 'open', source: 'lookup' });
    const adopted = evidence({ order: { ...ORDER, adopted_at: at(4) }, events: [found] });
    expect(texts(adopted).slice(-1)).toEqual([
      'The order was adopted: the exchange had it already. order-sync follows it.',
    ]);
  });
});

describe('a finding in a story', () => {
  it('is advice until it is acknowledged or no longer true', () => {
    const { meaning, advice: toDo } = classTexts('AMOUNT_MISMATCH');
    const advice = `A person should look at finding AMOUNT_MISMATCH. ${toDo}`;
    const acknowledged = evidence({
      findings: [{ ...FINDING, changed_by: 'anna', changed_at: at(20), reason: 'settled' }],
    });
    expect(tell(acknowledged, 9).next).not.toContain(advice);
    expect(tell(acknowledged, 10).next).toContain(advice);
    expect(tell(acknowledged, 19).next).toContain(advice);
    expect(tell(acknowledged, 20).next).not.toContain(advice);
    expect(texts(acknowledged).slice(1)).toEqual([
      `Finding AMOUNT_MISMATCH (error): ${meaning} Expected: 1.5. Found: 1.6.`,
      'anna acknowledged finding AMOUNT_MISMATCH: settled',
    ]);
    const resolved = evidence({ findings: [{ ...FINDING, last_seen_at: at(15), resolved_at: at(20) }] });
    expect(tell(resolved, 19).next).toContain(advice);
    expect(tell(resolved, 20).next).not.toContain(advice);
    expect(texts(resolved).slice(1)).toEqual([
      `Finding AMOUNT_MISMATCH (error): ${meaning}`,
      'Finding AMOUNT_MISMATCH was seen again. Expected: 1.5. Found: 1.6.',
      'Finding AMOUNT_MISMATCH is resolved: it is no longer true.',
    ]);
  });

  it('asks for no decision that a person has made, until the order is disputed again', () => {
    const disputed = event(10, { old_value: 'open', new_value: 'disputed', source: 'lookup' });
    const decided = event(20, { old_value: 'disputed', new_value: 'open', source: 'operator' });
    const again = event(30, { old_value: 'open', new_value: 'disputed', source: 'lookup' });
    const findings = [
      { ...FINDING, class: 'ID_COLLISION' },
      { ...FINDING, class: 'LEG_CONFLICT' },
      { ...FINDING, class: 'TYPE_MISMATCH', first_seen_at: at(25) },
    ];
    const given = evidence({ events: [disputed, decided, again], findings });
    const decision = 'A person has decided';
    const advised = (seconds: number) =>
      findings.filter(({ class: name }) =>
        tell(given, seconds).next.some((line) => line.includes(`finding ${name}.`) && !line.includes(decision)),
      );
    expect(advised(19)).toEqual(findings.slice(0, 2));
    expect(advised(29)).toEqual(findings.slice(1));
    expect(advised(30)).toEqual(findings);
    const acknowledge = tell(given, 29).next.filter((line) => line.startsWith('order-sync findings ack'));
    expect(acknowledge).toEqual(['order-sync findings ack 1 1 1 --reason TEXT']);
  });

  it('keeps the advice on what a person has not settled by saying that the order is ours', () => {
    const disputed = event(10, { old_value: 'open', new_value: 'disputed', source: 'lookup' });
    const decided = event(20, { old_value: 'disputed', new_value: 'final', source: 'operator', reason: 'as agreed' });
    const order = { ...ORDER, outcome: 'succeeded', updated_at: at(20) };
    const given = evidence({ order, events: [disputed, decided], findings: [FINDING] });
    const { next, headline } = tell(given);
    expect(next.join('\n')).toContain(classTexts('AMOUNT_MISMATCH').advice);
    expect(headline).toMatch(/paid.*1\.6 .*1\.5 /);
    expect(tell({ ...given, findings: [{ ...FINDING, changed_at: at(30) }] }).headline).toBe(headline);
    expect(tell({ ...given, findings: [{ ...FINDING, resolved_at: at(30) }] }).headline).not.toContain('1.6');
  });

  it.each([
    ['CREATE_UNKNOWN', 'held', 'pending', true],
    ['CREATE_UNKNOWN', 'held', 'unknown', false],
    ['CREATE_UNKNOWN', 'disputed', 'open', false],
    ['AMOUNT_MISMATCH', 'disputed', 'abandoned', true],
    ['AMOUNT_MISMATCH', 'disputed', 'open', false],
    ['MERCHANT_MISMATCH', 'disputed', 'open', true],
    ['ORDER_REUSED', 'disputed', 'open', false],
    ['ORDER_REUSED', 'disputed', 'abandoned', true],
    ['SILENT_CHANGE', 'disputed', 'abandoned', true],
    ['SILENT_CHANGE', 'disputed', 'open', false],
    ['ORDER_REUSED', 'held', 'pending', false],
    ['PREORDER_ECHO_MISMATCH', 'disputed', 'abandoned', false],
  ])('%s is settled by the decision from %s to %s: %s', (name, old_value, new_value, isSettled) => {
    const decided = event(20, { old_value, new_value, source: 'operator', actor: 'anna' });
    const events = [event(10, { new_value: old_value }), decided];
    const adviceAt = (seconds: number, happened = events) => {
      const told = tell(evidence({ events: happened, findings: [{ ...FINDING, class: name }] }), seconds);
      return told.next.find((line) => line.includes(`finding ${name}.`))?.includes('A person has decided');
    };
    expect([adviceAt(19), adviceAt(30)]).toEqual([false, isSettled]);
    const again = event(25, { old_value: new_value, new_value: name === 'CREATE_UNKNOWN' ? 'unknown' : 'disputed' });
    expect(adviceAt(30, [...events, again])).toBe(false);
  });

  it('CREATE_UNKNOWN of a held order advises nothing about orders of unknown outcome', () => {
    const findings = [{ ...FINDING, class: 'CREATE_UNKNOWN' }];
    const advised = (new_value: string) =>
      tell(evidence({ events: [event(10, { new_value })], findings }))
        .next.join()
        .includes('While the order is unknown');
    expect(['unknown', 'held'].map(advised)).toEqual([true, false]);
  });

  it('is acknowledged after the decision that settles it, and not before', () => {
    const kinds = ['CREATE_UNKNOWN', 'ID_COLLISION', 'AMOUNT_MISMATCH', 'SILENT_CHANGE'];
    const findings = kinds.map((name, index) => ({ ...FINDING, id: index + 1, class: name }));
    const offered = (...states: readonly string[]) => {
      const moved = states.map((new_value, index) =>
        event(10 + index, { old_value: states[index - 1] ?? 'sending', new_value, source: 'operator' }),
      );
      const { next } = tell(evidence({ events: moved, findings }));
      return next.filter((line) => line.startsWith('order-sync findings ack'));
    };
    const ids = (text: string) => [`order-sync findings ack ${text} --reason TEXT`];
    expect(offered('unknown')).toEqual(ids('2 3 4'));
    expect(offered('held')).toEqual(ids('2 3 4'));
    expect(offered('held', 'pending')).toEqual(ids('1 2 3 4'));
    expect(offered('disputed')).toEqual(ids('1'));
    expect(offered('disputed', 'open')).toEqual(ids('1 2 3 4'));
  });

  it('has no amount of an order that a person gave up in its headline', () => {
    const given = (new_value: string) => {
      const decided = event(20, { old_value: 'disputed', new_value, source: 'operator' });
      return tell(evidence({ events: [decided], findings: [FINDING] })).headline;
    };
    expect(given('open')).toContain('1.6');
    expect(given('abandoned')).not.toContain('1.6');
  });

  it('of another order with the same id names our own pre-order, to ask about before the order is sent again', () => {
    const findings = [{ ...FINDING, class: 'ID_COLLISION' }];
    const events = [event(10, { old_value: 'accepted', new_value: 'disputed', source: 'lookup' })];
    const advice = (order: Partial<StoryOrder>) => {
      const { next } = tell(evidence({ order: { ...ORDER, ...order }, events, findings }));
      expect(next.some((line) => /finding ID_COLLISION\. .*commands above/.test(line))).toBe(true);
      // The decision is offered once.
      return next.join('\n').split('--as abandoned');
    };
    expect(advice({})).toEqual([expect.stringContaining('pre-order p1.'), expect.any(String)]);
    expect(advice({ pre_order_id: null, account: 'shop-1' })).toEqual([
      expect.stringContaining('whether it has your own pre-order, '),
      expect.stringMatching(/^ --reason TEXT --account shop-1$/m),
    ]);
    const alone = { order: ORDER, events: [] };
    expect(adviceOn({ ...FINDING, class: 'ID_COLLISION' }, alone)).toContain('your own pre-order p1.');
  });

  it('tells once what several findings of one class ask for', () => {
    const findings = [1, 2, 3, 4].map((id) => ({ ...FINDING, id, class: 'SILENT_CHANGE' }));
    const { next } = tell(evidence({ findings }));
    expect(next.filter((line) => line.includes('SILENT_CHANGE'))).toHaveLength(1);
    expect(next.at(-1)).toBe('order-sync findings ack 1 2 3 4 --reason TEXT');
  });

  it('has one entry if the history has it too, and one if only the history has it', () => {
    const seen = event(10, { field: 'finding', old_value: null, new_value: 'AMOUNT_MISMATCH', reason: 'they differ' });
    expect(texts(evidence({ events: [seen], findings: [FINDING] }))).toHaveLength(2);
    expect(texts(evidence({ events: [seen] }))).toContain('Finding AMOUNT_MISMATCH: they differ.');
  });

  it('of a class that this version does not know has an entry, too', () => {
    const { told, next } = tell(evidence({ findings: [{ ...FINDING, class: 'FROM_TOMORROW' }] }));
    expect(told[1]?.text).toBe('Finding FROM_TOMORROW (error). Expected: 1.5. Found: 1.6.');
    expect(next).toContain(
      'A person should look at finding FROM_TOMORROW. This version of order-sync does not know this class.',
    );
  });
});

describe('a change in a story', () => {
  it.each([
    [{ field: 'order.status', old_value: null, new_value: 'REQUEST' }, 'The status of the order is REQUEST.'],
    [
      { field: 'fiatTransaction.status', old_value: 'NEW', new_value: 'PAID', exchange_time: 'noon' },
      'The status of the fiat transaction changed from NEW to PAID (dated noon by the exchange).',
    ],
    [
      { field: 'cryptoTransaction.status', old_value: 'NEW', new_value: null },
      'The exchange no longer sends the status of the crypto transaction, which was NEW.',
    ],
    [
      { field: 'record.ratio', old_value: '1.10', new_value: null },
      'The ratio of the record changed from 1.10 to nothing.',
    ],
    [{ field: 'record.link', old_value: null, new_value: 'changed' }, 'The link of the record changed.'],
    [{ field: 'record.other', old_value: null, new_value: 'x, y' }, 'Other fields of the record changed: x, y.'],
    [{ field: 'new.field', old_value: '1', new_value: null, reason: 'so' }, 'new.field changed from 1 to nothing: so.'],
    [
      { old_value: 'cancelled', new_value: 'final' },
      'The exchange has the order, although it was cancelled. It has ended there.',
    ],
  ])('%j', (changes, sentence) => {
    expect(texts(evidence({ events: [event(1, changes)] }))[1]).toBe(sentence);
  });

  it('numbers creates as they were recorded, also if the clock was set back in between', () => {
    const events = [event(20, {}), event(21, { old_value: 'sending', new_value: 'pending' }), event(10, {})];
    const given = evidence({ events });
    expect(tell(given, 15).told.at(-1)?.text).toBe('order-sync began create request 2.');
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
    const events = [event(1, {}), event(2, { old_value: 'sending', new_value: 'unknown' })];
    const order = { ...ORDER, last_lookup_at: at(7), verifications: 1 };
    expect(texts(evidence({ order, events })).at(-1)).toBe('A look-up found no order; 1 of 10 look-ups are done.');
  });

  it('that brought a record which cannot be read says so, and not that there is no order', () => {
    const record = { received_at: at(7), view: undefined };
    const told = texts(evidence({ order: { ...ORDER, last_lookup_at: at(9) }, record })).slice(-2);
    expect(told).toEqual([
      'order-sync received the newest record of the order, and cannot read it.',
      'A look-up found no newer record of the order.',
    ]);
  });

  it('that brought the newest record shows its values', () => {
    const view = recordWith({
      orderId: 'o1',
      orderNumber: '77',
      inputAsset: '1.50',
      outputAsset: '60000',
      fromCurrency: 'BTC',
      toCurrency: 'EUR',
      ratio: '40000',
      fee: '0.001',
    });
    const record = { received_at: at(7), view };
    const told = texts(evidence({ order: { ...ORDER, last_lookup_at: at(7) }, record }));
    expect(told.at(-1)).toBe(
      'order-sync received the newest record of the order: id o1, number 77, 1.50 BTC in, 60000 EUR out, ratio 40000, fee 0.001.',
    );
    expect(texts(evidence({ order: { ...ORDER, last_lookup_at: at(9) }, record })).at(-1)).toBe(
      'A look-up found no newer record of the order.',
    );
  });
});

describe('what happens next', () => {
  it.each(ORDER_STATES.map((state) => ({ state })))(
    'is told of an order that is $state, now and of the past',
    ({ state }) => {
      const events = state === 'pending' ? [] : [event(5, { new_value: state })];
      const due = { ...ORDER, updated_at: at(5), next_action_at: at(2_000) };
      const now = tell(evidence({ order: due, events }));
      const past = tell(evidence({ order: { ...due, updated_at: at(1_001) }, events }));
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
    const order = { ...ORDER, updated_at: at(900_000) };
    const given = evidence({ order, events: [event(5, { new_value: state })] });
    expect(tell(given, seconds).next.join(' ')).toContain(`next by ${expected} if nothing delays it`);
  });

  it('is a pass if the time has come', () => {
    const due = evidence({ order: { ...ORDER, next_action_at: at(990) } });
    expect(tell(due).next[0]).toBe('The order is sent when the next pass runs.');
    expect(tell({ ...due, events: [event(0, { new_value: 'open' })] }).next[0]).toBe(
      'The order is followed until it ends, next when a pass runs.',
    );
  });

  it.each<[string, number, string | null, DecisionEvidence, readonly string[]]>([
    ['nothing speaks against it', 700, at(650), {}, ['--as not-created --reason']],
    ['the create may still arrive', 600, null, {}, []],
    ['no look-up brought a documented absence', 700, null, {}, [DUPLICATE]],
    ['an accepted pre-order is answered absent', 700, at(650), { acceptedAndAbsent: 'b' }, [DUPLICATE]],
    ['the create may still arrive, besides', 600, null, { acceptedAndAbsent: 'b' }, []],
    ['a fail-over left it in doubt', 700, at(650), { doubt: 'run: order-sync db accept-restore' }, []],
  ])('offers to send an order again as it will be accepted: %s', (_name, seconds, absent_at, against, options) => {
    const order = { ...ORDER, sent_at: at(1), absent_at };
    const now = new Date(at(seconds));
    const given = evidence({ order, events: [event(1, { new_value: 'held' })] });
    const { next } = buildStory(given, now, { ...SETTINGS, against });
    const offered = next.filter((line) => isCommand(line) && line.includes('--as not-created'));
    expect(offered).toEqual(options.map((one) => expect.stringContaining(one) as string));
    const sent = {
      externalOrderId: 'a',
      sentAt: new Date(at(1)),
      absentAt: absent_at === null ? null : new Date(absent_at),
    };
    const why = obstacleTo('not-created', { ...sent, state: 'held' }, now, against)?.why;
    expect(next.join('\n').toLowerCase()).toContain(why?.toLowerCase() ?? '');
    const judgement = { kind: 'not-created', mayDuplicate: options.includes(DUPLICATE) } as const;
    const action = { judgement, actor: 'anna', reason: 'they said so' };
    const made = decideByOperator(trackingWith({ state: 'held', ...sent }), action, now, SETTINGS, against);
    expect(made.ok).toBe(options.length > 0);
  });

  it('offers no retry of a refused order that a fail-over left in doubt', () => {
    const given = evidence({ events: [event(1, { new_value: 'rejected' })] });
    const { next } = buildStory(given, new Date(at(2)), { ...SETTINGS, against: { doubt: 'ask the exchange' } });
    expect(next.filter(isCommand)).toEqual([]);
  });

  it('asks about our own pre-order before it offers to give up a disputed order', () => {
    const { next } = tell(evidence({ events: [event(1, { new_value: 'disputed' })] }));
    const command = next.findIndex((line) => line.includes('--as abandoned'));
    expect(next[command - 2]).toContain('own pre-order');
  });

  it('looks up an order that was given up as another for our own one alone', () => {
    const from = (old_value: string) => {
      const order = { ...ORDER, next_action_at: at(2_000) };
      return tell(evidence({ order, events: [event(1, { old_value, new_value: 'abandoned' })] })).next[0];
    };
    expect(from('disputed')).not.toBe(from('held'));
    expect(from('disputed')).toContain('your own order');
  });

  it('says that an unknown outcome may be sent once more if the settings say so', () => {
    const events = [event(1, { new_value: 'unknown' })];
    const [line] = buildStory(evidence({ events }), new Date(at(2)), { ...SETTINGS, onUnknown: 'resend' }).next;
    expect(line).toContain('it is sent once more, or held for a person to decide');
  });
});

describe('the story of an earlier moment', () => {
  const seconds = fc.integer({ min: 0, max: 100 });
  const maybe = fc.option(seconds.map(at), { nil: null });
  const events = fc.array(
    fc.record({
      when: seconds,
      new_value: fc.constantFrom<OrderState>(...ORDER_STATES),
      source: fc.constantFrom('create', 'lookup', 'operator'),
    }),
    { maxLength: 8 },
  );
  const findings = fc.array(
    fc.record({ first_seen_at: seconds.map(at), last_seen_at: seconds.map(at), resolved_at: maybe, changed_at: maybe }),
    { maxLength: 3 },
  );

  it('is how that of a later one begins, whatever happened', () => {
    fc.assert(
      fc.property(events, findings, maybe, seconds, seconds, (happened, found, last_lookup_at, one, other) => {
        const given = evidence({
          order: { ...ORDER, last_lookup_at, updated_at: at(100) },
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
