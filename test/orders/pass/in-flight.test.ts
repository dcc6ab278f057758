import { describe, expect, it } from 'vitest';
import { CreatesInFlight } from '../../../src/orders/pass/in-flight.ts';

describe('creates in flight', () => {
  it('are the ones that have begun and not ended, also if two passes began with one order', () => {
    const creates = new CreatesInFlight(2);
    const [first, second] = [creates.begin('a'), creates.begin('a')];
    second[Symbol.dispose]();
    expect([creates.has('a'), creates.size]).toEqual([true, 1]);
    first[Symbol.dispose]();
    expect([creates.has('a'), creates.size]).toEqual([false, 0]);
  });

  it('are not unsent if another create of the order, which has left, wrote its intent', () => {
    const creates = new CreatesInFlight(2);
    const [first, second] = [creates.begin('a'), creates.begin('a')];
    first.isSent = true;
    first[Symbol.dispose]();
    // The second found the order `sending`, and the database failed.
    second[Symbol.dispose]();
    expect(creates.isUnsent('a')).toBe(false);
  });

  it('are unsent if they ended before their request left, or if that is proved, and were not recorded', () => {
    const creates = new CreatesInFlight(2);
    const ended = (id: string, isSent: boolean | undefined) => {
      using create = creates.begin(id);
      create.isSent = isSent;
    };
    ended('broken off', false);
    ended('sent', true);
    ended('refused', false);
    ended('done', undefined);
    const ids = ['broken off', 'sent', 'refused', 'done'];
    expect(ids.map((id) => creates.isUnsent(id))).toEqual([true, false, true, false]);
    // An intent that was never durable is no reason to send twice what was sent since.
    ended('broken off', true);
    creates.forget('refused');
    expect(ids.map((id) => creates.isUnsent(id))).toEqual([false, false, false, false]);
  });

  it('are no more than the requests that may go at a time while an outcome cannot be written', () => {
    const inFlight = new CreatesInFlight(2);
    const views = () => [inFlight.isFull, inFlight.isOverfull];
    const [first] = [inFlight.begin('a'), inFlight.begin('b'), inFlight.begin('c')];
    expect(views()).toEqual([false, false]);
    first.isWriteFailing = true;
    expect(views()).toEqual([true, true]);
    first[Symbol.dispose]();
    expect(views()).toEqual([false, false]);
  });
});
