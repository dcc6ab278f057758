import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueTimes } from '../../../src/domain/accounts/agenda.ts';

const account = fc.integer({ min: 0, max: 20 }).map((number) => `shop-${number}`);
const at = fc.integer({ min: 0, max: 50 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('plan'), account, at: fc.option(at, { nil: undefined }) }),
  fc.record({ kind: fc.constant('setEarlier'), account, at }),
  fc.record({ kind: fc.constant('take'), account, at }),
);

describe('times of accounts', () => {
  it('are taken when they come, the earliest first, each as it was planned last', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const times = new DueTimes();
        const model = new Map<string, number>();
        for (const { kind, account: name, at: time } of steps) {
          if (kind === 'plan') {
            times.plan(name, time);
            if (time === undefined) model.delete(name);
            else model.set(name, time);
          } else if (kind === 'setEarlier') {
            times.setEarlier(name, time ?? 0);
            model.set(name, Math.min(time ?? 0, model.get(name) ?? Number.POSITIVE_INFINITY));
          } else {
            const due = [...model].filter(([, planned]) => planned <= (time ?? 0));
            const taken = times.take(time ?? 0);
            expect(new Set(taken)).toEqual(new Set(due.map(([one]) => one)));
            const order = taken.map((one) => model.get(one) ?? 0);
            expect(order).toEqual(order.toSorted((one, other) => one - other));
            for (const one of taken) model.delete(one);
          }
          expect(times.size).toBe(model.size);
          expect(times.of(name)).toBe(model.get(name));
        }
      }),
    );
  });

  it('are forgotten by nobody where some are planned anew again and again', () => {
    const times = new DueTimes();
    const names = Array.from({ length: 20 }, (_, index) => `shop-${index}`);
    for (let round = 0; round < 50; round += 1) {
      for (const [index, name] of names.entries()) times.plan(name, 1_000 + round + ((index * 7) % 20) * 100);
    }
    for (let time = 9_000; time < 10_000; time += 1) times.plan('shop-3', time);
    const inOrder = names.toSorted((one, other) => (times.of(one) ?? 0) - (times.of(other) ?? 0));
    expect(times.take(Number.POSITIVE_INFINITY)).toEqual(inOrder);
  });

  it('that are planned anew again and again come once', () => {
    const times = new DueTimes();
    for (let time = 100_000; time > 0; time -= 1) times.plan('shop', time);
    expect(times.take(1)).toEqual(['shop']);
    expect(times.take(200_000)).toEqual([]);
  });
});
