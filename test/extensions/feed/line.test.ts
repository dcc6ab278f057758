import { expect, it } from 'vitest';
import { feedEventOf, type EventRow } from '../../../src/extensions/feed/event.ts';
import { eventLine } from '../../../src/extensions/feed/line.ts';

const ROW: EventRow = {
  id: 7,
  account: 'shop',
  type: 'order',
  subject: 'o-1',
  field: 'state',
  old_value: 'open',
  new_value: 'final',
  observed_at: '2026-03-01T12:00:00.000Z',
  exchange_time: null,
  source: 'lookup',
  reason: 'a reason',
  actor: 'ann',
  hash: '0123456789abcdef'.repeat(4),
};
const at = (width: number, hasColour = false) => ({ width, hasColour, now: new Date('2026-03-01T13:00:00.000Z') });

function lineOf(changes: Partial<EventRow>, { hasAccount = false, hasColour = false } = {}): string {
  return eventLine(feedEventOf({ ...ROW, ...changes }), at(200, hasColour), hasAccount)
    .replaceAll(/ {2,}/g, '  ')
    .trimEnd();
}

it.each([
  [{}, 'o-1  state is final, was open, by ann: a reason'],
  [{ field: 'cryptoTransaction.status', old_value: null, reason: null, actor: null }, 'o-1  crypto status is final'],
  [
    { type: 'order.needs_attention', new_value: 'held' },
    'o-1  a person must decide: state is held, was open, by ann: a reason',
  ],
  [{ type: 'finding.opened', field: 'STUCK', actor: null }, 'o-1  finding STUCK: expected open, found final: a reason'],
  [{ type: 'finding.resolved', field: 'STUCK', reason: null, actor: null }, 'o-1  finding STUCK is resolved'],
  [{ type: 'link', field: 'status', reason: null, actor: null }, 'o-1  status is final, was open'],
  [{ type: 'photos', field: 'MAIN' }, 'o-1  photos of level MAIN: final'],
  [{ type: 'account', field: 'exchange', actor: null }, 'shop  the exchange is out of reach: a reason'],
  [
    { type: 'account', field: 'hold', old_value: null, new_value: 'creates-paused' },
    'shop  the account is paused (creates-paused), by ann: a reason',
  ],
] as const)('says of %o what happened', (changes, text) => {
  expect(lineOf(changes)).toBe(`12:00:00  ${text}`);
});

it('names the account if there may be several, and has the colour of what is grave', () => {
  expect(lineOf({}, { hasAccount: true })).toMatch(/^12:00:00 {2}shop {2}o-1 {2}state/);
  expect(lineOf({ new_value: 'held' }, { hasColour: true })).toContain('o-1  \u001b[31m\u001b[1mstate is held');
  expect(lineOf({ new_value: 'sending' }, { hasColour: true })).toContain('o-1  state is sending');
});

it.each([60, 100, 160])('has its words in one column at %i columns, and cuts no id', (width) => {
  const lines = ['shop-1000', 'o-1'].map((subject) => eventLine(feedEventOf({ ...ROW, subject }), at(width), false));
  expect(lines.map((line) => line.indexOf('state is'))).toEqual([36, 36]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(width + 1);
  const id = 'x'.repeat(70);
  expect(eventLine(feedEventOf({ ...ROW, subject: id }), at(width), false)).toContain(`  ${id}  state is`);
});
