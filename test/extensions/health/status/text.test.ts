import { describe, expect, it } from 'vitest';
import { feedEventOf } from '../../../../src/extensions/feed/event.ts';
import { ORDER_STATES } from '../../../../src/orders/rules/states.ts';
import { judgeStatus } from '../../../../src/extensions/health/status/problems.ts';
import type { Status } from '../../../../src/extensions/health/status/status.ts';
import { watchText } from '../../../../src/extensions/health/status/text.ts';
import { widthOf } from '../../../../src/cli/shared/terminal.ts';
import { overviewOf, READ_AT, readingOf } from '../../../support/reading.ts';

const EVENT = {
  account: 'default',
  type: 'order',
  field: 'state',
  old_value: 'open',
  new_value: 'final',
  observed_at: READ_AT,
  exchange_time: null,
  source: 'lookup',
  reason: null,
  actor: null,
  hash: '',
} as const;

/** Newest first, as an overview has them. */
const newest = Array.from({ length: 20 }, (_, index) =>
  feedEventOf({ ...EVENT, id: 20 - index, subject: `shop-${20 - index}` }),
);
const everyState = Object.fromEntries(ORDER_STATES.map((state) => [state, 1_200]));
const held = { account: 'default', state: 'held', reason: 'a reason '.repeat(20), since: READ_AT } as const;

function statusOf(changes: Parameters<typeof overviewOf>[0] = {}): Status {
  const overview = overviewOf({ newest, orders: { final: 1_200, held: 7 }, ...changes });
  return { ...readingOf(), database: 'sqlite:orders.db', daemon: null, overview };
}

const attention = ['a', 'b', 'c', 'd', 'e', 'f'].map((externalOrderId) => ({ ...held, externalOrderId }));
const linesOf = (status: Status, width: number, rows: number) =>
  watchText(status, { width, hasColour: false, now: new Date(READ_AT) }, rows).split('\n');

describe('the screen of status --watch', () => {
  it.each([
    [60, 20],
    [100, 23],
    [160, 49],
  ])('fits %i columns and %i rows: the verdict first, the newest event last', (columns, rows) => {
    const lines = linesOf(statusOf({ attention }), columns, rows);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/ As of 13:37:42 UTC\.$/);
    expect(lines[1]).toMatch(/ order a is held: a reason .*…$/);
    expect(lines[2]?.trim()).toBe('order-sync orders explain a');
    expect(lines).toContain('orders  held 7 · final 1,200');
    expect(lines.slice(-2).map((line) => line.split(/ {2,}/)[1])).toEqual(['shop-19', 'shop-20']);
  });

  it('says how many problems it has no room for, and has room for events of what problems leave', () => {
    const few = linesOf(statusOf({ attention: attention.slice(0, 1), orders: { held: 1 } }), 100, 23);
    const many = linesOf(statusOf({ attention }), 100, 23);
    const events = (lines: readonly string[]) => lines.filter((line) => line.includes('shop-')).length;
    expect([few.some((line) => / \d+ more: /.test(line)), many.some((line) => / \d+ more: /.test(line))]).toEqual([
      false,
      true,
    ]);
    expect(events(few)).toBeGreaterThan(events(many));
  });

  it('has as many rows also if ids are longer than a line, and names every state that has orders', () => {
    const long = newest.map((event) => feedEventOf({ ...EVENT, id: event.cursor, subject: 'x'.repeat(80) }));
    const lines = linesOf(statusOf({ attention, newest: long, orders: everyState }), 60, 23);
    expect(lines).toHaveLength(23);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(60);
    for (const state of ORDER_STATES) expect(lines.join(' ')).toMatch(new RegExp(` ${state} +1,200`));
  });

  it('has no more rows than the smallest terminal, and cuts no command', () => {
    expect(linesOf(statusOf({ attention }), 20, 1)).toHaveLength(1);
    const long = { ...held, externalOrderId: 'x'.repeat(50) };
    const text = linesOf(statusOf({ attention: [long] }), 60, 23).join('\n');
    expect(text.replaceAll(/\n {4}/g, '')).toContain(`order-sync orders explain${'x'.repeat(50)}`);
  });
});

it('names first what the verdict is about', () => {
  const trouble = { account: 'default', since: READ_AT, reason: 'ECONNREFUSED' };
  const verdict = judgeStatus({ ...statusOf({ attention, outOfReach: [trouble] }), daemon: readingOf().daemon });
  expect([verdict.end, verdict.reasons[0]?.code]).toEqual(['out-of-reach', 'out-of-reach']);
});
