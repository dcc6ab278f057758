import { describe, expect, it } from 'vitest';
import { headlineOf, headlineSentence, headlineTone } from '../../../src/extensions/documents/headline.ts';
import { ORDER_STATES } from '../../../src/orders/rules/states.ts';

const SINCE = '2026-01-05T12:00:00.000Z';

describe('the headline of an order', () => {
  it.each(ORDER_STATES)('is never only the word final, and never empty: %s', (state) => {
    for (const outcome of [null, 'succeeded', 'failed', 'from-tomorrow']) {
      const words = [headlineOf({ state, outcome }), headlineSentence({ state, outcome }, SINCE)];
      for (const text of words) expect(text).toMatch(/\w/);
      for (const text of words) expect(text).not.toMatch(/\bfinal$/);
    }
  });

  it('says of a final order whether it paid, and is good news only then', () => {
    const told = [null, 'succeeded', 'failed'].map((outcome) => {
      const order = { state: 'final', outcome };
      return [headlineOf(order), headlineSentence(order), headlineTone(order)];
    });
    expect(told).toEqual([
      [expect.stringContaining('not known'), expect.stringContaining('not known'), 'info'],
      ['paid', 'The order was paid', 'good'],
      ['failed', 'The order failed', 'warning'],
    ]);
  });

  it('says since when an order that waits for something does so', () => {
    expect(headlineSentence({ state: 'open', outcome: null }, SINCE)).toContain(`since ${SINCE}`);
    expect(headlineSentence({ state: 'cancelled', outcome: null }, SINCE)).not.toContain('since');
  });

  it('of a state that this version does not know is that state', () => {
    expect(headlineOf({ state: 'constructor', outcome: null })).toBe('constructor');
  });
});
