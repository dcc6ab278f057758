import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import {
  forgetRequest,
  putRequest,
  requestStatus,
  withdrawRequest,
  type RequestStatus,
} from './tables/account-requests.ts';
import type { ReachableWorker } from '../postgres/sharing/workers.ts';
import { StoreError } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';
import { writeEnvelope, type Envelope } from '../api/envelope.ts';
import { NoOwnerError, type OwnerReply, type OwnerRequest, type Transport } from '../api/asking/transport.ts';

/** A worker that does not take a request within this time has other things to do, or is gone. */
const PATIENCE_MS = 10_000;
const POLL_MS = 100;
/** A database that gives no answer for so long is no way to the owner any more. */
const DATABASE_PATIENCE_MS = 10_000;

interface TableDeps {
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
}

type AskedWorker = Pick<ReachableWorker, 'holder'> & { readonly publicKey: string };

/** The way from another machine: a sealed row that the owner takes and answers, and that is removed when the answer was read. */
export function tableTransport(deps: TableDeps, worker: AskedWorker, account: string): Transport {
  return {
    async send(asked, signal) {
      const request = new TableRequest(deps, worker, account, signal);
      try {
        return (await request.put(asked)) ?? (await request.reply());
      } catch (error) {
        await request.forget();
        throw error;
      }
    },
  };
}

class TableRequest {
  readonly #deps: TableDeps;
  readonly #key: { readonly account: string; readonly id: string };
  readonly #holder: string;
  readonly #keys = newKeyPair();
  readonly #seal: Seal;
  readonly #signal: AbortSignal;

  constructor(deps: TableDeps, { holder, publicKey }: AskedWorker, account: string, signal: AbortSignal) {
    this.#deps = deps;
    this.#holder = holder;
    this.#signal = signal;
    this.#key = { account, id: randomUUID() };
    this.#seal = sealBetween(this.#keys, publicKey, [holder, account, this.#key.id]);
  }

  async put(asked: OwnerRequest): Promise<OwnerReply | undefined> {
    const input = this.#seal.close('input', JSON.stringify(asked));
    try {
      const request = { ...this.#key, holder: this.#holder, publicKey: this.#keys.publicKey, input };
      if (await putRequest(this.#deps.store.db, request)) return undefined;
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem !== 'busy' || (await this.#withdraw())) throw error;
      throw new Error('it is not known whether the request was left', { cause: error });
    }
    const why = `${this.#key.account} has too many requests that wait for an answer`;
    return replyOf(writeEnvelope({ kind: 'not-sent', why }));
  }

  /** The answer, or its beginning. Rejects with `NoOwnerError` where the worker did not take the request. */
  async reply(): Promise<OwnerReply> {
    const { clock } = this.#deps;
    const until = clock.monotonic() + PATIENCE_MS;
    for await (const { answer, progress, isTaken, isWorkerAlive } of this.#statuses()) {
      if (answer !== null) {
        const reply = replyOf(this.#envelopeIn(answer));
        await this.forget();
        return reply;
      }
      if (progress !== null) return { ...replyOf({ httpStatus: 200, body: '' }), lines: () => this.#lines() };
      const isLate = !isWorkerAlive || clock.monotonic() >= until;
      if (!isTaken && isLate && (await this.#withdraw())) {
        throw new NoOwnerError('the worker that drives the account did not take the request');
      }
    }
    throw new Error('the request was removed');
  }

  /** Leaves nothing behind. What cannot be removed now, the workers remove later. */
  async forget(): Promise<void> {
    await forgetRequest(this.#deps.store.db, this.#key).catch(() => undefined);
  }

  async *#lines(): AsyncGenerator<string> {
    try {
      let shown: string | null = null;
      for await (const { answer, progress } of this.#statuses()) {
        if (progress !== null && progress !== shown) {
          shown = progress;
          yield this.#seal.open('progress', shown);
        }
        if (answer === null) continue;
        const { body } = this.#envelopeIn(answer);
        if (body !== '') yield body;
        return;
      }
      throw new Error('the request was removed');
    } finally {
      await this.forget();
    }
  }

  /** Looks how far the request has come until it is removed. Rejects where no answer can come any more. */
  async *#statuses(): AsyncGenerator<RequestStatus> {
    const { store, clock } = this.#deps;
    for (let readAt = clock.monotonic(); ; await clock.sleep(POLL_MS, this.#signal)) {
      try {
        const status = await requestStatus(store.db, this.#key);
        if (status === undefined) return;
        readAt = clock.monotonic();
        yield status;
        if (status.isTaken && !status.isWorkerAlive) throw new Error('the worker that took the request is gone');
      } catch (cause) {
        if (!(cause instanceof StoreError)) throw cause;
        if (clock.monotonic() >= readAt + DATABASE_PATIENCE_MS) {
          throw new Error('the database gives no answer', { cause });
        }
      }
    }
  }

  async #withdraw(): Promise<boolean> {
    return await withdrawRequest(this.#deps.store.db, this.#key).catch(() => false);
  }

  #envelopeIn(answer: string): Envelope {
    return JSON.parse(this.#seal.open('answer', answer)) as Envelope;
  }
}

function replyOf({ httpStatus, retryAfterSeconds = 0, body }: Envelope): OwnerReply {
  return {
    httpStatus,
    retryAfterSeconds,
    isLines: false,
    text: async () => body,
    async *lines() {
      if (body !== '') yield body;
    },
  };
}

/** Keys of one side of a conversation (X25519). The private one never leaves the process. */
export interface KeyPair {
  /** 32 bytes in base64url, for the other side. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export type Direction = 'input' | 'progress' | 'answer';

export interface Seal {
  close(direction: Direction, text: string): string;
  /** Throws `BrokenSealError`. */
  open(direction: Direction, sealed: string): string;
}

/** The error when a sealed text was changed, or was sealed for another conversation. */
export class BrokenSealError extends Error {
  override readonly name = 'BrokenSealError';
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function newKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: publicKey.export({ format: 'jwk' }).x ?? '', privateKey };
}

/** Each direction has a key of its own from the shared secret (X25519, HKDF with SHA-256, AES-256-GCM), for what `about` names alone. Throws `BrokenSealError`. */
export function sealBetween(own: KeyPair, otherPublicKey: string, about: readonly string[]): Seal {
  const secret = sharedSecret(own.privateKey, otherPublicKey);
  const keyOf = (direction: Direction) =>
    Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(['order-sync', direction, ...about]), KEY_BYTES));
  return {
    close(direction, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyOf(direction), nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
    },
    open(direction, sealed) {
      try {
        const bytes = Buffer.from(sealed, 'base64');
        const end = bytes.length - TAG_BYTES;
        const cipher = createDecipheriv(CIPHER, keyOf(direction), bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        cipher.setAuthTag(bytes.subarray(end));
        return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, end)), cipher.final()]).toString();
      } catch (cause) {
        throw new BrokenSealError('a request between two processes was changed, or is of another one', { cause });
      }
    },
  };
}

function sharedSecret(privateKey: KeyObject, x: string): Buffer {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
    return diffieHellman({ privateKey, publicKey });
  } catch (cause) {
    throw new BrokenSealError('the key of another process is none', { cause });
  }
}
