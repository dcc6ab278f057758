import { describe, expect, it } from 'vitest';
import { eventsText } from '../../../../../src/extensions/health/dashboard/front/events.ts';
import { feedEventOf, type EventRow } from '../../../../../src/extensions/feed/event.ts';
import { dashboardFacts } from '../../../../support/dashboard-facts.ts';

const ROW: EventRow = {
  id: 1,
  account: 'default',
  type: 'order',
  subject: 'shop-1',
  field: 'state',
  old_value: null,
  new_value: null,
  observed_at: '2026-03-04T13:37:12.250Z',
  exchange_time: null,
  source: 'lookup',
  reason: null,
  actor: null,
  hash: 'f'.repeat(64),
};

/** The lines for events, the oldest of them first. */
function linesOf(...rows: readonly Partial<EventRow>[]): readonly string[] {
  const newest = rows.map((row, index) => feedEventOf({ ...ROW, ...row, id: index + 1 })).toReversed();
  const page = eventsText(dashboardFacts({ newest }));
  return page
    .split('<li>')
    .slice(1)
    .map((item) =>
      item
        .replace(/.*?class="when".*?<\/span>/s, '')
        .replaceAll(/<[^>]+>/g, '')
        .trim(),
    );
}

describe('the newest changes', () => {
  it('are one line an order, the order that changed last first', () => {
    const lines = linesOf(
      { old_value: 'pending', new_value: 'sending' },
      { subject: 'shop-2', old_value: 'accepted', new_value: 'open' },
      { old_value: 'sending', new_value: 'accepted' },
    );
    expect(lines).toEqual(['shop-1 pending → sending → accepted', 'shop-2 accepted → open']);
  });

  it('tell the state and findings of an order alone if they have changed, and the newest field if not', () => {
    const status = { field: 'order.status', old_value: 'REQUEST', new_value: 'PAID' };
    const found = { type: 'finding.opened', field: 'STUCK' } as const;
    expect(linesOf(status, { old_value: 'open', new_value: 'final' }, found)).toEqual([
      'shop-1 open → final finding opened STUCK and 1 more field',
    ]);
    expect(linesOf(status)).toEqual(['shop-1 order.status REQUEST → PAID']);
  });

  it('tell of a subject without a state or a finding what changed last, and of an account nothing else', () => {
    const account = { type: 'account', subject: 'default', field: 'hold' } as const;
    const refused = { ...account, old_value: null, new_value: 'key-refused' };
    const lines = linesOf(
      { field: 'order.status', new_value: 'B' },
      { field: 'fiatTransaction.status', new_value: 'PAID' },
      { field: 'order.status', old_value: 'B', new_value: 'C' },
      { ...refused, reason: 'first' },
      { ...account, old_value: 'key-refused', new_value: null, reason: 'taken' },
      { ...refused, reason: 'again' },
    );
    expect(lines).toEqual(['account default key refused again', 'shop-1 order.status – → B → C and 1 more field']);
  });

  it('tell once that an order became held, and what became of an account', () => {
    const held = { old_value: 'unknown', new_value: 'held' };
    const paused = {
      type: 'account',
      subject: 'default',
      field: 'hold',
      new_value: 'all-paused',
      reason: 'r',
      actor: 'ann',
    } as const;
    expect(linesOf(held, { ...held, type: 'order.needs_attention' }, paused)).toEqual([
      'account default paused all-paused, by ann: r',
      'shop-1 unknown → held',
    ]);
  });
});
