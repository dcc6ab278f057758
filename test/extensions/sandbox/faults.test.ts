import { describe, expect, it } from 'vitest';
import { decideFault, FAULTS, type FaultPlan } from '../../../src/extensions/sandbox/server.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';

const first = (call: 'create' | 'lookup', externalOrderId: string | undefined) => ({
  call,
  externalOrderId,
  isFirst: true,
});

function draw(plan: FaultPlan, count: number, seed = 1): (string | undefined)[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, index) => decideFault(plan, first('create', `shop-${index}`), random));
}

describe('the faults of the sandbox', () => {
  it('come as often as the plan says, on creates and look-ups alike', () => {
    const plan = { 'reset-after': 0.1, html: 0.3 };
    const at = (drawn: number, call: 'create' | 'lookup') => decideFault(plan, first(call, 'shop-1'), () => drawn);
    for (const call of ['create', 'lookup'] as const) {
      expect([0, 0.0999, 0.1, 0.3999, 0.4, 0.9999].map((drawn) => at(drawn, call))).toEqual([
        'reset-after',
        'reset-after',
        'html',
        'html',
        undefined,
        undefined,
      ]);
    }
    expect(decideFault(plan, first('lookup', undefined), () => 0)).toBe('reset-after');
  });

  it('are the same for the same seed', () => {
    const plan = Object.fromEntries(FAULTS.map((fault) => [fault, 0.05]));
    expect(draw(plan, 500)).toEqual(draw(plan, 500));
    expect(draw(plan, 500)).not.toEqual(draw(plan, 500, 2));
    expect(new Set(draw(plan, 500))).toEqual(new Set([...FAULTS, undefined]));
  });

  it.each(FAULTS)('of the name %s can be asked for by an external order id, on the first create', (fault) => {
    const id = `fault-${fault}-1`;
    const plan = { 'wrong-json': 1 };
    const decide = (call: 'create' | 'lookup', isFirst: boolean) =>
      decideFault(plan, { call, externalOrderId: id, isFirst }, () => 0);
    expect([decide('create', true), decide('create', false), decide('lookup', true)]).toEqual([
      fault,
      undefined,
      undefined,
    ]);
  });

  it.each(FAULTS)('of the name %s can be asked for on the first look-up', (fault) => {
    const decide = (call: 'create' | 'lookup', isFirst: boolean) =>
      decideFault({}, { call, externalOrderId: `fault-lookup-${fault}-1`, isFirst }, () => 0);
    expect([decide('lookup', true), decide('lookup', false), decide('create', true)]).toEqual([
      fault,
      undefined,
      undefined,
    ]);
  });

  it('are none if an id asks for one that does not exist', () => {
    expect(decideFault({ html: 1 }, first('create', 'fault-flood-1'), () => 0)).toBeUndefined();
  });
});
