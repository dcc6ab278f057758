import { describe, expect, it } from 'vitest';
import {
  decideChange,
  NO_TURNS,
  RECORD_EVENTS,
  shownText,
  type RecordChange,
  type Turns,
} from '../../../src/orders/rules/record-change.ts';
import type { RecordFields, RecordPath } from '../../../src/orders/rules/record.ts';

const RATIO = 'order.exchangeOperation.ratio';
const LINK = 'order.fiatTransaction.link';
const DATE = 'order.modificationDate';
type Given = Partial<Record<RecordPath, string>>;

function fields(given: Given, other: Readonly<Record<string, string>> = {}): RecordFields {
  return {
    documented: new Map(Object.entries(given) as [RecordPath, string][]),
    other: new Map(Object.entries(other)),
  };
}

function decide(
  newest: RecordFields,
  received: RecordFields,
  turns: Turns = NO_TURNS,
  wasContrary = false,
  isTaken = false,
) {
  const comparison = { newest, received, newestHash: shownText(newest), receivedHash: shownText(received), turns };
  return decideChange(comparison, { wasContrary, isTaken });
}

/** The decisions about each of these answers, one after another, of an order whose newest record is the first of them. */
function answered(first: RecordFields, ...answers: readonly RecordFields[]) {
  let [newest, turns, wasContrary] = [first, NO_TURNS, false];
  const became: RecordChange[] = [];
  for (const received of answers) {
    if (received === newest) {
      wasContrary = false;
      continue;
    }
    const change = decide(newest, received, turns, wasContrary);
    became.push(change);
    ({ turns, isContrary: wasContrary } = change);
    if (!change.isContrary) newest = received;
  }
  return { taken: became.map(({ isContrary }) => !isContrary), became, newest };
}

describe('what an event of a record shows', () => {
  it.each<RecordPath>([
    'order.fiatTransaction.internalToken',
    'order.fiatTransaction.link',
    'order.fiatTransaction.paymentToken',
  ])('is of a secret only that it changed: %s', (path) => {
    const [one, other] = [fields({ [path]: 'secret-1' }), fields({ [path]: 'secret-2' })];
    expect(decide(one, other).fields).toMatchObject([{ oldValue: null, newValue: 'changed' }]);
    expect(shownText(one)).not.toContain('secret');
  });

  it.each<RecordPath>([
    'order.number',
    'order.exchangeOperation.inputAsset',
    'order.exchangeOperation.outputAsset',
    'order.exchangeOperation.ratio',
    'order.cryptoTransaction.fee',
    'percent',
    'reward',
  ])('is of a number nothing if it is only written otherwise: %s', (path) => {
    expect(decide(fields({ [path]: '1.50' }), fields({ [path]: '1.5' })).fields).toEqual([]);
    expect(decide(fields({ [path]: '1.50' }), fields({ [path]: '1.51' })).fields).toHaveLength(1);
  });

  it.each<RecordPath>(['order.status', 'order.cryptoTransaction.status', 'order.fiatTransaction.status'])(
    'is of a status nothing, as that has events of its own: %s',
    (path) => expect(decide(fields({ [path]: 'A' }), fields({ [path]: 'B' })).fields).toEqual([]),
  );
});

describe('the turns between two records', () => {
  const [one, other] = [fields({ [RATIO]: '1' }), fields({ [RATIO]: '2' })];
  const known = { earlierHash: shownText(other), turns: 2, repeats: 0, quietChanges: 0 };

  it('continue as they were if nothing that is shown has changed', () => {
    const again = decide(one, one, { ...known, earlierHash: 'earlier', repeats: 1 }, true);
    expect(again.turns).toEqual({ ...known, earlierHash: 'earlier' });
  });

  it('are one more if the last answer was not taken for its date alone', () => {
    expect(decide(one, other, known, true)).toEqual({
      fields: [],
      isContrary: true,
      turns: { ...known, turns: 3, repeats: 1 },
    });
  });
});

describe('the fields of a record that changed', () => {
  it('are recorded with both texts as they were received', () => {
    const { fields: changes } = decide(
      fields({ [RATIO]: '1.10', percent: '2' }),
      fields({ [RATIO]: '1.2', reward: '0.0' }),
    );
    expect(changes).toEqual([
      { field: 'record.ratio', oldValue: '1.10', newValue: '1.2' },
      { field: 'record.percent', oldValue: '2', newValue: null },
      { field: 'record.reward', oldValue: null, newValue: '0.0' },
    ]);
  });

  it.each<[string, Given, Given]>([
    ['the same amount, written otherwise', { [RATIO]: '1.50' }, { [RATIO]: '1.5' }],
    ['a date that moves alone', { [DATE]: 'a' }, { [DATE]: 'b' }],
    ['the time of the server', { 'order.serverDate': 'a' }, { 'order.serverDate': 'b' }],
    ['a status, which has an event of its own', { 'order.status': 'A' }, { 'order.status': 'B' }],
  ])('do not count %s', (_name, newest, received) => {
    expect(decide(fields(newest), fields(received)).fields).toEqual([]);
  });

  it('are not shown if they are tokens, links or unknown', () => {
    const newest = fields({ [LINK]: 'secret-1' }, { 'order.code': '"secret-2"', 'order.kept': '1' });
    const received = fields({ [LINK]: 'secret-3' }, { 'order.kept': '1', more: '"secret-4"' });
    expect(decide(newest, received).fields).toEqual([
      { field: 'record.link', oldValue: null, newValue: 'changed' },
      { field: 'record.other', oldValue: null, newValue: 'order.code, more' },
    ]);
  });

  it('have names of their own', () => {
    const names = [...RECORD_EVENTS.values()];
    expect(new Set(names).size).toBe(names.length);
    expect(RECORD_EVENTS.get('order.id')).toBe('record.order.id');
    expect(RECORD_EVENTS.get('order.fiatTransaction.resultMessage')).toBe('record.fiatTransaction.resultMessage');
    expect(RECORD_EVENTS.get('order.cryptoTransaction.externalCryptoAddress')).toBe('record.externalCryptoAddress');
  });

  it.each<[string, (round: number) => RecordFields]>([
    ['a link', (round) => fields({ [LINK]: `${round}` })],
    ['a link and a date', (round) => fields({ [LINK]: `${round}`, [DATE]: `${round}` })],
    ['an unknown field', (round) => fields({}, { requestId: `${round}` })],
  ])('are not recorded without end if each answer has %s of its own', (_name, record) => {
    const { became, taken } = answered(record(0), ...Array.from({ length: 40 }, (_, round) => record(round + 1)));
    expect(taken).not.toContain(false);
    expect(became.filter((change) => change.fields.length > 0)).toHaveLength(10);
  });
});

describe('an exchange that goes back and forth between two records', () => {
  const [a, b] = [fields({ 'order.status': 'A', [RATIO]: '1' }), fields({ 'order.status': 'B', [RATIO]: '2' })];
  const aAgain = fields({ 'order.status': 'A', [RATIO]: '1' }, { requestId: '7' });

  it('is believed twice, and from the third turn on our record stays', () => {
    const { taken, newest } = answered(a, b, a, b, a, b, a, b);
    expect(taken).toEqual([true, true, false, false, false]);
    expect(newest).toBe(a);
  });

  it('is recognized by what is shown, whatever else each answer holds', () => {
    expect(answered(a, b, aAgain, b).taken).toEqual([true, true, false]);
  });

  it('is believed again when the exchange sends the other record alone', () => {
    const { taken, newest } = answered(a, b, a, b, b, b);
    expect(taken).toEqual([true, true, false, false, true]);
    expect(newest).toBe(b);
    expect(answered(a, b, a, ...Array.from({ length: 50 }, () => [b, a]).flat(), ...Array(20).fill(b)).newest).toBe(b);
  });

  it('records few changes, however long and in whatever order it does', () => {
    let seed = 1;
    const draw = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 2 === 0 ? a : b;
    };
    const { taken } = answered(a, ...Array.from({ length: 5_000 }, draw));
    expect(taken.filter(Boolean).length).toBeLessThan(10);
  });

  it('does not keep out a third record', () => {
    const c = fields({ 'order.status': 'C' });
    expect(answered(a, b, a, b, c, b).taken).toEqual([true, true, false, true, true]);
  });

  it('may not hide a record that must be taken', () => {
    const { turns } = answered(a, b, a).became.at(-1)!;
    const third = decide(a, b, turns, false, true);
    expect(third.isContrary).toBe(false);
    expect(third.fields).toHaveLength(1);
    expect(decide(b, a, third.turns).isContrary).toBe(true);
  });
});
