import { describe, expect, it } from 'vitest';
import { forEachConcurrently } from '../../../src/orders/pass/run.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) yield number;
}

describe('working through a stream', () => {
  it('works on each item once, on as many at a time as it may', async () => {
    const done: number[] = [];
    let inFlight = 0;
    let most = 0;
    await forEachConcurrently(numbers(50), 4, async (number) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      done.push(number);
    });
    expect(done).toEqual(Array.from({ length: 50 }, (_, number) => number));
    expect(most).toBe(4);
  });

  it('takes nothing new after a failure, finishes what is in flight, and then fails with it', async () => {
    const begun: number[] = [];
    const finished: number[] = [];
    const slow = Promise.withResolvers<void>();
    const working = forEachConcurrently(numbers(1_000), 2, async (number) => {
      begun.push(number);
      if (number === 1) throw new Error('the second');
      await slow.promise;
      finished.push(number);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual([0, 1]);
    slow.resolve();
    await expect(working).rejects.toThrow('the second');
    expect([begun, finished]).toEqual([[0, 1], [0]]);
  });

  it('fails when the stream fails', async () => {
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error('the stream');
    }
    await expect(forEachConcurrently(broken(), 3, async () => {})).rejects.toThrow('the stream');
  });
});
