import { describe, expect, it } from 'vitest';
import { feedEventOf, ROW_TYPES, subjectKindOf, type EventRow } from '../../../src/extensions/feed/event.ts';

const HASH = '0123456789abcdef'.repeat(4);
const ROW: EventRow = {
  id: 7,
  account: 'shop',
  type: 'order',
  subject: 'o-1',
  field: 'state',
  old_value: 'open',
  new_value: 'final',
  observed_at: '2026-03-01T12:00:00.000Z',
  exchange_time: '2026-03-01T11:59:59Z',
  source: 'lookup',
  reason: 'a reason',
  actor: 'ann',
  hash: HASH,
};

const typeOf = (changes: Partial<EventRow>) => feedEventOf({ ...ROW, ...changes }).type;
const dataOf = (changes: Partial<EventRow>) => feedEventOf({ ...ROW, ...changes }).data;

describe('an event of the feed', () => {
  it('bears the place and the time of its row, and an id that no event of another history has', () => {
    expect(feedEventOf(ROW)).toMatchObject({
      version: 1,
      id: `evt_${HASH.slice(0, 32)}`,
      cursor: 7,
      account: 'shop',
      timestamp: '2026-03-01T12:00:00.000Z',
    });
  });

  it.each([
    [{ field: 'state' }, 'order.state_changed'],
    [{ field: 'order.status' }, 'order.status_changed'],
    [{ field: 'cryptoTransaction.status' }, 'order.status_changed'],
    [{ field: 'fiatTransaction.status' }, 'order.status_changed'],
    [{ field: 'record.ratio' }, 'order.field_changed'],
    [{ type: 'order.needs_attention' }, 'order.needs_attention'],
    [{ type: 'finding.opened' }, 'finding.opened'],
    [{ type: 'finding.resolved' }, 'finding.resolved'],
    [{ type: 'finding.acknowledged' }, 'finding.acknowledged'],
    [{ type: 'link' }, 'link.status_changed'],
    [{ type: 'photos' }, 'photos.received'],
    [{ type: 'account', field: 'exchange', new_value: 'out-of-reach' }, 'account.out_of_reach'],
    [{ type: 'account', field: 'exchange', new_value: null }, 'account.back'],
    [{ type: 'account', field: 'restore' }, 'account.restored'],
    [{ type: 'account', field: 'answers', new_value: 'cannot-be-read' }, 'account.unreadable'],
    [{ type: 'account', field: 'answers', new_value: null }, 'account.readable'],
    [{ type: 'account', field: 'stopped', old_value: null, new_value: 'older-state' }, 'account.stopped'],
    [{ type: 'account', field: 'stopped', old_value: 'older-state', new_value: null }, 'account.resumed'],
    [{ type: 'account', field: 'hold', old_value: null, new_value: 'key-refused' }, 'account.key_refused'],
    [{ type: 'account', field: 'hold', old_value: null, new_value: 'paused' }, 'account.paused'],
    [{ type: 'account', field: 'hold', old_value: 'paused', new_value: null }, 'account.resumed'],
  ] as const)('of %o is %s', (changes, type) => {
    expect(typeOf(changes)).toBe(type);
  });

  const change = {
    field: 'state',
    oldValue: 'open',
    newValue: 'final',
    exchangeTime: '2026-03-01T11:59:59Z',
    source: 'lookup',
    reason: 'a reason',
    actor: 'ann',
  };
  const who = { reason: 'a reason', actor: 'ann' };

  it.each([
    ['an order', {}, { externalOrderId: 'o-1', ...change }],
    ['an order that needs a person', { type: 'order.needs_attention' }, { externalOrderId: 'o-1', ...change }],
    ['a link', { type: 'link' }, { linkId: 'o-1', ...change }],
    [
      'photos',
      { type: 'photos', field: 'MAIN' },
      { linkId: 'o-1', level: 'MAIN', requestId: 'open', delivery: 'final' },
    ],
    ['a hold', { type: 'account', field: 'hold', old_value: null, new_value: 'paused' }, { hold: 'paused', ...who }],
    [
      'the end of a hold',
      { type: 'account', field: 'hold', old_value: 'paused', new_value: null },
      { hold: 'paused', ...who },
    ],
    ['an exchange out of reach', { type: 'account', field: 'exchange' }, { hold: null, ...who }],
    [
      'a finding',
      { type: 'finding.opened', field: 'amount_differs' },
      { externalOrderId: 'o-1', class: 'amount_differs', severity: null, expected: 'open', actual: 'final', ...who },
    ],
  ] as const)('tells of %s what its row says', (_what, changes, data) => {
    expect(dataOf(changes)).toEqual(data);
  });
});

it.each([
  ['order', ['order', 'order.needs_attention', 'finding.opened', 'finding.resolved', 'finding.acknowledged']],
  ['link', ['link', 'photos']],
  ['account', ['account']],
] as const)('keeps in order what is about the same %s', (kind, types) => {
  expect(ROW_TYPES[kind].toSorted()).toEqual(types.toSorted());
  expect(types.map(subjectKindOf)).toEqual(types.map(() => kind));
});
