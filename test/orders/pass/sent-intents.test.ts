import { expect, it } from 'vitest';
import { SentIntents } from '../../../src/orders/pass/sent-intents.ts';

it('keeps the newest ten thousand intents, each order once', () => {
  const intents = new SentIntents();
  const add = (index: number, sentAt: string) => intents.add({ account: 'a', externalOrderId: `o${index}`, sentAt });
  for (let index = 0; index < 10_000; index += 1) add(index, 'first');
  add(0, 'again');
  add(10_000, 'first');
  expect([intents.of('a').length, intents.of('b')]).toEqual([10_000, []]);
  expect(intents.of('a').some(({ externalOrderId }) => externalOrderId === 'o1')).toBe(false);
  expect(intents.of('a').find(({ externalOrderId }) => externalOrderId === 'o0')).toMatchObject({ sentAt: 'again' });
});
