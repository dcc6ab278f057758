import { describe, expect, it } from 'vitest';
import { ageingDocument, type AgeGroup } from '../../../src/extensions/reports/ageing.ts';

const FACTS = { account: 'default', asOf: '2026-01-10T00:00:00.000Z', orders: 3 };

const ageOf = (since: string) => Date.parse(FACTS.asOf) - Date.parse(since);

function group(state: string, since: string, changes: Partial<AgeGroup> = {}): AgeGroup {
  const age = ageOf(since);
  const halves = { p1: age, p25: age, p50: age, p75: age };
  return { state, status: null, pair: null, orders: 1, ...halves, p90: age, p99: age, longest: age, ...changes };
}

describe('the report of ageing', () => {
  it('shows ages to people and, exactly, to programs; states in the order in which they are passed', () => {
    const final = group('final', '2026-01-09T23:59:59.995Z', { status: 'DONE' });
    const held = group('held', '2026-01-06T19:54:53.900Z', { longest: ageOf('2025-12-01T00:00:00.000Z') });
    const { sections, schema } = ageingDocument(FACTS, [final, held], [], []);
    expect(schema).toBe('order-sync.ageing/1');
    expect(sections[1]?.rows).toEqual([
      {
        state: 'held',
        status: null,
        pair: null,
        orders: 1,
        p50: '3d 04:05:06',
        p50_seconds: '273906.100',
        p90: '3d 04:05:06',
        p90_seconds: '273906.100',
        p99: '3d 04:05:06',
        p99_seconds: '273906.100',
        longest: '40d 00:00:00',
        longest_seconds: '3456000.000',
      },
      expect.objectContaining({ state: 'final', status: 'DONE', p50: '00:00:00', p50_seconds: '0.005' }),
    ]);
  });

  it('draws the ages of orders that still wait, if all of them can be known', () => {
    const waiting = group('open', '2026-01-09T00:00:00.000Z', {
      status: 'REQUEST',
      p99: ageOf('2026-01-08T21:00:00.000Z'),
    });
    const others = [
      group('final', '2026-01-01T00:00:00.000Z'),
      group('held', '2026-01-01T00:00:00.000Z', { p1: null }),
    ];
    const day = 86_400_000;
    expect(ageingDocument(FACTS, [waiting, ...others], [], []).charts).toMatchObject([
      {
        kind: 'spans',
        rows: [{ name: 'open, REQUEST', span: { p1: day, p25: day, p50: day, p75: day, p99: 1.125 * day } }],
      },
    ]);
    expect(ageingDocument(FACTS, others, [], []).charts).toEqual([]);
  });

  it('names the orders that have waited the longest, and leaves out an age that cannot be known', () => {
    const order = { account: 'default', id: 'a', pair: 'BTC/EUR', state: 'pending', status: null };
    const since = '2026-01-09T00:00:00.000Z';
    const { sections } = ageingDocument(
      FACTS,
      [],
      [],
      [
        { ...order, since },
        { ...order, id: 'b', since: 'yesterday' },
      ],
    );
    expect(sections[0]?.rows).toEqual([
      {
        account: 'default',
        external_order_id: 'a',
        pair: 'BTC/EUR',
        state: 'pending',
        status: null,
        since,
        age: '1d 00:00:00',
        age_seconds: '86400.000',
      },
      expect.objectContaining({ external_order_id: 'b', age: null, age_seconds: null }),
    ]);
  });
});
