import { describe, expect, it } from 'vitest';
import { DueTimes } from '../../../src/accounts/rules/due.ts';

describe('the due times of an account', () => {
  it('have a pass woken once for each time, and not before it has come', () => {
    const due = new DueTimes();
    due.read({ create: 10 });
    expect([due.take('create', 9), due.take('create', 10), due.take('create', 11)]).toEqual([false, true, false]);
    due.read({ create: 10 });
    expect(due.take('create', 11)).toBe(false);
    due.read({ create: 11 });
    expect([due.take('create', 11), due.take('create', 11)]).toEqual([true, false]);
  });

  it('have a pass woken again for a time that had gone in between', () => {
    const due = new DueTimes();
    due.read({ verify: 10 });
    expect(due.take('verify', 10)).toBe(true);
    due.read({ verify: undefined });
    expect([due.isAny, due.take('verify', 10)]).toEqual([false, false]);
    due.read({ verify: 10 });
    expect(due.take('verify', 10)).toBe(true);
  });

  it('are each of their kind: one that is read alone leaves the others', () => {
    const due = new DueTimes();
    due.read({ create: undefined, verify: 5, follow: 7 });
    due.read({ create: 6 });
    expect((['create', 'verify', 'follow'] as const).map((kind) => due.next(kind))).toEqual([6, 5, 7]);
    expect((['create', 'verify', 'follow'] as const).map((kind) => due.isDue(kind, 6))).toEqual([true, true, false]);
    expect([due.take('verify', 6), due.take('follow', 6)]).toEqual([true, false]);
    due.read({ create: 8 });
    expect([due.take('verify', 6), due.take('create', 8)]).toEqual([false, true]);
  });

  it('name the next time for which a pass is still to be woken', () => {
    const due = new DueTimes();
    expect([due.next('create'), due.isAny]).toEqual([Number.POSITIVE_INFINITY, false]);
    due.read({ create: 3 });
    expect([due.next('create'), due.isAny]).toEqual([3, true]);
    due.take('create', 3);
    expect([due.next('create'), due.isDue('create', 3), due.isDue('create', 2)]).toEqual([
      Number.POSITIVE_INFINITY,
      true,
      false,
    ]);
  });

  it('have a pass woken again if whoever was woken does not work any more', () => {
    const due = new DueTimes();
    due.read({ create: 0, follow: 1 });
    due.take('create', 0);
    due.forgetWakes();
    expect([due.take('create', 0), due.take('follow', 1)]).toEqual([true, true]);
  });
});
