import type { Clock } from '../../clock.ts';
import { answer, refuse, type SandboxAnswer } from '../api/answer.ts';
import type { PhotoRequest } from '../api/requests.ts';
import { cardsOf, customerOf } from './customer.ts';
import { randomHex } from '../random.ts';
import { oddityOf, type PhotoDelivery, type PhotoOddity } from './photos.ts';
import { statusAfter, verificationOf, type VerificationStep } from './verification.ts';

/** Options of the clients of a sandbox. */
export interface ClientOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Decides, with the id of a link, its customer and cards. */
  readonly seed?: number;
  /** The factor by which verifications are faster than their courses. */
  readonly speed?: number;
}

/** An answer, and the photos that are delivered to the merchant after it (§6). */
export interface PhotosAnswer extends SandboxAnswer {
  readonly delivery?: PhotoDelivery;
}

interface SandboxLink {
  readonly linkId: string;
  readonly madeAt: Date;
  readonly verification: readonly VerificationStep[];
  readonly hasCards: boolean;
  readonly hasUploadUrl: boolean;
  readonly photoOddity: PhotoOddity | undefined;
}

/** The lifetimes of tokens; the interface does not show them. */
const VERIFICATION_TOKEN_MS = 20 * 60_000;
const SDK_TOKEN_MS = 5 * 60_000;
const LONGEST_EMAIL = 254;

/** The client links of the sandbox: §4.1 to §4.8. */
export class Clients {
  readonly #options: ClientOptions;
  readonly #byId = new Map<string, SandboxLink>();
  readonly #emails = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  create(email: string): SandboxAnswer {
    const refused = this.#refusalOf(email);
    if (refused !== undefined) return refused;
    const link: SandboxLink = {
      linkId: `link-${this.#byId.size + 1}`,
      madeAt: this.#options.clock.now(),
      verification: verificationOf(email),
      hasCards: !email.startsWith('no-cards'),
      hasUploadUrl: !email.startsWith('no-upload-url'),
      photoOddity: oddityOf(email),
    };
    this.#byId.set(link.linkId, link);
    this.#emails.add(email.toLowerCase());
    return this.show(link.linkId);
  }

  validate(email: string): SandboxAnswer {
    return this.#refusalOf(email) ?? answer(200, { status: 'OK' });
  }

  show(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, ({ madeAt, verification }) => {
      const elapsedMs = this.#options.clock.now().getTime() - madeAt.getTime();
      return answer(200, { linkId, status: statusAfter(verification, elapsedMs, this.#options.speed ?? 1) });
    });
  }

  verificationToken(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, () => {
      const tokenValidTill = this.#after(VERIFICATION_TOKEN_MS).replace(/\.\d{3}Z$/, 'Z');
      return answer(200, { linkId, token: this.#token('verification'), tokenValidTill });
    });
  }

  requestPhotos(linkId: string, wanted: PhotoRequest, url: string | undefined): PhotosAnswer {
    return this.#ofLink(linkId, ({ photoOddity, hasUploadUrl }) => {
      if (url === undefined || !hasUploadUrl) return refuse('uploadUrlNotSet');
      const { kycLevelType: level, token } = wanted;
      const actionId = level === 'LIVENESS' ? (wanted.actionId ?? undefined) : undefined;
      const delivery = { url, linkId, level, actionId, token: token ?? undefined, oddity: photoOddity };
      return { ...answer(200, { status: 'ok' }), delivery };
    });
  }

  customer(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, () => answer(200, customerOf(linkId, this.#seed)));
  }

  cards(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, ({ hasCards }) => answer(200, hasCards ? cardsOf(linkId, this.#seed) : []));
  }

  sdkToken(linkId: string): SandboxAnswer {
    return this.#ofLink(linkId, () => answer(200, { token: this.#token('sdk'), expiresAt: this.#after(SDK_TOKEN_MS) }));
  }

  get #seed(): number {
    return this.#options.seed ?? 1;
  }

  #ofLink<Answer extends SandboxAnswer>(linkId: string, act: (link: SandboxLink) => Answer): Answer | SandboxAnswer {
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
