import { describe, expect, it } from 'vitest';
import { timeSteps } from '../../../../src/extensions/reports/reconciliation/steps.ts';

const named = (days: readonly string[], period: readonly string[] = []) => {
  const { unit, names = [] } = timeSteps(days, period) ?? {};
  return [unit, names.length, ...names.filter((name) => name !== null)];
};

describe('the axis of days', () => {
  it.each([
    ['a few days', ['2026-02-27', '2026-03-02'], ['day', 4, '27 Feb', '28', '1 Mar', '2']],
    ['a month', ['2026-03-01', '2026-03-31'], ['day', 31, '1 Mar', '8', '15', '22']],
    ['days without a round one', ['2026-03-23', '2026-03-31'], ['day', 9, '23 Mar']],
    ['a quarter', ['2026-01-01', '2026-03-31'], ['week', 14, 'Jan 2026', 'Feb', 'Mar']],
    ['a year', ['2026-01-01', '2026-12-31'], ['week', 53, 'Jan 2026', 'Apr', 'Jul', 'Oct']],
    ['three years', ['2024-01-01', '2026-12-31'], ['month', 36, '2024', '2025', '2026']],
    ['twenty years', ['2001-01-01', '2020-12-31'], ['year', 20, '2001', '2005', '2009', '2013', '2017']],
  ])('has steps that suit %s, and names for as many as have room', (_, days, expected) => {
    expect(named(days)).toEqual(expected);
  });

  it('has a bounded number of steps, whatever the days are', () => {
    const { names = [] } = timeSteps(['0001-01-01', '9999-12-31']) ?? {};
    expect(names.length).toBeLessThan(120);
    expect(names.filter((name) => name !== null).length).toBeLessThan(10);
  });

  it('covers a period of a few days whole, and of a long one only the days that are used', () => {
    expect(named(['2026-03-14'], ['2026-03-01', '2026-03-31'])[1]).toBe(31);
    expect(named(['2026-03-14', '2026-03-15'], ['1970-01-01', '2026-03-31'])).toEqual(['day', 2, '14 Mar', '15']);
  });

  it('leaves out what is no day, and finds the step of each day', () => {
    const steps = timeSteps(['?', '2026-02-30', '2026-03-02', '2026-03-04']);
    expect(['2026-03-02', '2026-03-04', '2026-03-05', '2026-02-30', '?'].map((day) => steps?.placeOf(day))).toEqual([
      0,
      2,
      undefined,
      undefined,
      undefined,
    ]);
    expect(timeSteps(['?'])).toBeUndefined();
  });
});
