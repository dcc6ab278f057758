import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** Keys of one side of a conversation (X25519). The private one never leaves the process. */
export interface KeyPair {
  /** 32 bytes in base64url, for the other side. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** What a sealed text is: it can be opened as nothing else. */
export type Direction = 'input' | 'progress' | 'answer';

/** Seals and opens the texts of one conversation. */
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

/** Makes new keys. */
export function newKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: publicKey.export({ format: 'jwk' }).x ?? '', privateKey };
}

/**
 * The seal between this side and the other one, for what `about` names alone. Each direction has a key of its own, derived from
 * the secret that both sides share (X25519, HKDF with SHA-256); texts are sealed with AES-256-GCM. Throws `BrokenSealError` on
 * a public key that is none.
 */
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
