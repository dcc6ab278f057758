import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from '../../../src/exchange/transport/aborts.ts';

describe('waiting for an abort', () => {
  it('adds one listener to a signal, however many wait, and takes it away with the last of them', () => {
    const { signal } = new AbortController();
    const forget = ['a', 'b', 'c'].map(() => onAbort(signal, () => {}));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    forget.forEach((each) => each());
    forget.forEach((each) => each());
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    onAbort(signal, () => {});
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  });

  it('calls what still waits, once, and not what was taken away meanwhile', () => {
    const stop = new AbortController();
    const called: string[] = [];
    const forget: (() => void)[] = [];
    onAbort(stop.signal, () => {
      called.push('first');
      forget.forEach((each) => each());
    });
    forget.push(onAbort(stop.signal, () => called.push('taken away by the first')));
    onAbort(stop.signal, () => called.push('taken away before'))();
    onAbort(stop.signal, () => called.push('last'));
    stop.abort();
    stop.abort();
    expect(called).toEqual(['first', 'last']);
  });

  it('waits for nothing without a signal', () => {
    expect(() => onAbort(undefined, () => {})()).not.toThrow();
  });
});
