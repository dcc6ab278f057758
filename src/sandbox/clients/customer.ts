import { createHash } from 'node:crypto';
import { randomHex, seededRandom } from '../random.ts';

/** Numbers that card networks publish for tests; no real card has them. */
const TEST_CARDS = [
  ['VISA', '4111111111111111'],
  ['VISA', '4242424242424242'],
  ['VISA', '4012888888881881'],
  ['MASTERCARD', '5555555555554444'],
  ['MASTERCARD', '5105105105105100'],
  ['AMEX', '378282246310005'],
] as const;
const FIRST_NAMES = ['Ada', 'Boris', 'Carla', 'Dmitri', 'Elena', 'Farid'] as const;
const MOST_CARDS = 3;

/** Makes the customer of a link at the card-payment provider (§2.4): the same for the same seed and link id. */
export function customerOf(linkId: string, seed: number) {
  const random = randomOf('customer', linkId, seed);
  return {
    customerNumber: `sandbox-customer-${Math.floor(random() * 1e9)}`,
    firstName: pick(FIRST_NAMES, random),
    lastName: 'Sandbox',
    linkId,
  };
}

/** Makes one to three saved cards (§2.5) of the customer of a link: the same for the same seed and link id. */
export function cardsOf(linkId: string, seed: number) {
  const random = randomOf('cards', linkId, seed);
  const first = Math.floor(random() * TEST_CARDS.length);
  const count = 1 + Math.floor(random() * MOST_CARDS);
  return Array.from({ length: count }, (_, index) => {
    const [type, number] = TEST_CARDS[(first + index) % TEST_CARDS.length] ?? TEST_CARDS[0];
    // No country has the code ZZ.
    return {
      id: `card-${linkId}-${index + 1}`,
      bank: 'Sandbox Bank',
      country: 'ZZ',
      number,
      token: `sandbox-card-token-${randomHex(random)}`,
      type,
    };
  });
}

function randomOf(what: string, linkId: string, seed: number): () => number {
  return seededRandom(createHash('sha256').update(`${what} ${seed} ${linkId}`).digest().readUInt32BE());
}

function pick<Item>(items: readonly [Item, ...Item[]], random: () => number): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
