import { createHash } from 'node:crypto';
import { answer, refuse, type SandboxAnswer, type PhotoRequest } from './api.ts';
import type { OrderOptions } from './orders.ts';
import { PHOTO_ODDITIES } from './photos.ts';
import { nameAfter, randomHex, valueAfter } from './random.ts';

export type ClientOptions = Pick<OrderOptions, 'clock' | 'random' | 'speed'> & { readonly seed?: number };

type Verification = Readonly<Record<number, string>>;

/** The lifetimes of tokens are invented, because the interface shows none. */
const VERIFICATION_TOKEN_MS = 20 * 60_000;
const SDK_TOKEN_MS = 5 * 60_000;
const LONGEST_EMAIL = 254;

export class Clients {
  readonly #options: ClientOptions;
  readonly #byId = new Map<string, Link>();
  readonly #emails = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  create(email: string): SandboxAnswer {
    const refused = this.#refusalOf(email);
    if (refused !== undefined) return refused;
    const linkId = `link-${this.#byId.size + 1}`;
    this.#byId.set(linkId, newLink(email, this.#options.clock.now()));
    this.#emails.add(email.toLowerCase());
    return this.show(linkId);
  }

  validate(email: string): SandboxAnswer {
    return this.#refusalOf(email) ?? answer(200, { status: 'OK' });
  }

  show(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, ({ madeAt, verification }) => {
      const elapsedMs = (this.#options.clock.now().getTime() - madeAt.getTime()) * (this.#options.speed ?? 1);
      const reached = Object.entries(verification).filter(([ms]) => Number(ms) <= elapsedMs);
      return answer(200, { linkId, status: reached.at(-1)?.[1] ?? 'NOT_VERIFIED' });
    });
  }

  verificationToken(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, () => {
      const tokenValidTill = this.#after(VERIFICATION_TOKEN_MS).replace(/\.\d{3}Z$/, 'Z');
      return answer(200, { linkId, token: this.#token('verification'), tokenValidTill });
    });
  }

  requestPhotos(linkId: string, wanted: PhotoRequest, url: string | undefined): SandboxAnswer {
    return this.#ofLink(linkId, ({ photoOddity, hasUploadUrl }) => {
      if (url === undefined || !hasUploadUrl) return refuse('uploadUrlNotSet');
      const { kycLevelType: level, token } = wanted;
      const actionId = level === 'LIVENESS' ? (wanted.actionId ?? undefined) : undefined;
      const delivery = { url, linkId, level, actionId, token: token ?? undefined, oddity: photoOddity };
      return { ...answer(200, { status: 'ok' }), delivery };
    });
  }

  customer(linkId: string): SandboxAnswer {
    const customerNumber = `sandbox-customer-${digest('customer', linkId, this.#options.seed).readUInt32BE()}`;
    return this.#ofLink(linkId, () => answer(200, { customerNumber, firstName: 'Ada', lastName: 'Sandbox', linkId }));
  }

  cards(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, ({ hasCards }) => answer(200, hasCards ? cardsOf(linkId, this.#options.seed) : []));
  }

  sdkToken(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, () => answer(200, { token: this.#token('sdk'), expiresAt: this.#after(SDK_TOKEN_MS) }));
  }

  #ofLink(linkId: string, act: (link: Link) => SandboxAnswer): SandboxAnswer {
    const link = this.#byId.get(linkId);
    return link === undefined ? refuse('linkNotFound') : act(link);
  }

  #refusalOf(email: string): SandboxAnswer | undefined {
    if (email.length > LONGEST_EMAIL || !/^[^\s@]+@[^\s@]+$/.test(email)) return refuse('invalidEmail');
    if (email.startsWith('bad-request')) return refuse('badEmailRequest');
    return this.#emails.has(email.toLowerCase()) ? refuse('linkAlreadyExists') : undefined;
  }

  #token(what: string): string {
    return `sandbox-${what}-token-${randomHex(this.#options.random)}`;
  }

  #after(ms: number): string {
    return new Date(this.#options.clock.now().getTime() + ms).toISOString();
  }
}

/** Statuses by ms since the link was made. The interface shows only NOT_VERIFIED (§3); the rest is invented. */
const VERIFICATIONS = {
  verified: { 5_000: 'PENDING', 15_000: 'VERIFIED' },
  refused: { 5_000: 'PENDING', 15_000: 'REFUSED' },
  lapsed: { 5_000: 'PENDING', 15_000: 'VERIFIED', 3_615_000: 'NOT_VERIFIED' },
  'not-begun': {},
} as const satisfies Readonly<Record<string, Verification>>;

type Link = ReturnType<typeof newLink>;

function newLink(email: string, madeAt: Date) {
  return {
    madeAt,
    verification: valueAfter<Verification>('verification-', email, VERIFICATIONS) ?? VERIFICATIONS.verified,
    hasCards: !email.startsWith('no-cards'),
    hasUploadUrl: !email.startsWith('no-upload-url'),
    photoOddity: nameAfter('photos-', email, PHOTO_ODDITIES),
  };
}

export const EMAIL_INPUTS: readonly (readonly [input: string, effect: string])[] = [
  ['without one @ between two parts', '400 INVALID_EMAIL'],
  ['the same a second time', '400 LINK_ALREADY_EXISTS'],
  ['bad-request…', '400 BAD_REQUEST'],
  ['no-cards…', 'the customer has no saved card'],
  ['no-upload-url…', 'photos are refused with INVALID_VALUE, as without a delivery address'],
  ['verification-NAME-…', `the course of its verification: ${Object.keys(VERIFICATIONS).join(', ')}`],
  ['photos-NAME-…', `how its photos are delivered: ${PHOTO_ODDITIES.join(', ')}`],
];

/** Numbers that card networks publish for tests. No real card has such a number. */
const TEST_CARDS = [
  ['VISA', '4111111111111111'],
  ['VISA', '4242424242424242'],
  ['VISA', '4012888888881881'],
  ['MASTERCARD', '5555555555554444'],
  ['MASTERCARD', '5105105105105100'],
  ['AMEX', '378282246310005'],
] as const;
const MOST_CARDS = 3;

export function cardsOf(linkId: string, seed?: number) {
  const drawn = digest('cards', linkId, seed);
  return Array.from({ length: 1 + (drawn.readUInt8(0) % MOST_CARDS) }, (_, index) => {
    const [type, number] = TEST_CARDS[(drawn.readUInt8(1) + index) % TEST_CARDS.length] ?? TEST_CARDS[0];
    const token = `sandbox-card-token-${digest(`card ${index}`, linkId, seed).toString('hex', 0, 16)}`;
    // No country has the code ZZ.
    return { id: `card-${linkId}-${index + 1}`, bank: 'Sandbox Bank', country: 'ZZ', number, token, type };
  });
}

function digest(what: string, linkId: string, seed = 1): Buffer {
  return createHash('sha256').update(`${what} ${seed} ${linkId}`).digest();
}
