import { expect, it } from 'vitest';
import { ReadProgress } from '../../../src/orders/pass/sent-intents.ts';
import type { AccountLease } from '../../../src/store/port.ts';
import { FIRST_DUE } from '../../../src/store/find-orders.ts';
import { testClock } from '../../support/test-clock.ts';

it('writes down the place before the first order that the pass is not done with', () => {
  const accountLease: Pick<AccountLease, 'walked'> = {};
  const readProgress = new ReadProgress(accountLease, testClock(), { requests: 1, intervalMs: 1_000 });
  const place = (id: string) => ({ nextActionAt: '2040-01-01T00:00:00.000Z', externalOrderId: id });
  const walked = () => (JSON.parse(accountLease.walked ?? '[]') as string[])[1];
  readProgress.begin('a', FIRST_DUE);
  readProgress.begin('b', place('a'));
  expect(walked()).toBe('');
  readProgress.end('b');
  readProgress.begin('c', place('b'));
  expect(walked()).toBe('');
  readProgress.end('a');
  readProgress.begin('d', place('c'));
  expect(walked()).toBe('b');
});

it('lets a pass read again when it is woken, but only while orders are under way', async () => {
  const readProgress = new ReadProgress({}, testClock(), { requests: 1, intervalMs: 1_000 });
  readProgress.wake();
  expect(await readProgress.readAgain()).toBe(false);
  readProgress.begin('a', FIRST_DUE);
  readProgress.begin('b', FIRST_DUE);
  const woken = readProgress.readAgain();
  readProgress.end('b');
  readProgress.wake();
  expect(await woken).toBe(true);
  expect([readProgress.has('a'), readProgress.has('b')]).toEqual([true, false]);
  const ended = readProgress.readAgain();
  readProgress.end('a');
  expect(await ended).toBe(false);
});
