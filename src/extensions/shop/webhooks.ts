import { nowMs } from './clock.ts';
import { withCursor } from './cursor.ts';
import type { OrderSyncEvent } from './event.ts';

export type * from './event.ts';

/** The message that `order-sync webhooks test` sends. It is in no feed. */
export type TestMessage = Readonly<{ version: 1; id: string; type: 'webhook.test'; timestamp: string; data: object }>;

export type WebhookReason =
  | 'header-missing'
  | 'timestamp-unreadable'
  | 'too-old'
  | 'too-new'
  | 'signature-wrong'
  | 'payload-unreadable';

/** The request is no webhook of order-sync, or is too old or too new. Answer with 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly reason: WebhookReason;
  constructor(reason: WebhookReason) {
    super(`the webhook cannot be verified: ${reason}`);
    this.reason = reason;
  }
}

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;
/** The headers of a request: a `Headers` of `fetch`, or values by name as in Node. */
export type WebhookHeaders = Pick<Headers, 'get'> | HeaderValues;

const TOLERANCE_S = 5 * 60;
/** The most signatures that are checked. order-sync signs a message with one or two secrets. */
const MOST_SIGNATURES = 32;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Verifies and parses `payload`, the body as received. The body must be signed with one of `secrets` (`whsec_…`) within
 * five minutes of `now` (ms). Rejects with `WebhookError`, or with `TypeError` if a secret is malformed.
 */
export async function verify(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { now = nowMs() }: { readonly now?: number } = {},
): Promise<OrderSyncEvent | TestMessage> {
  const id = headerIn(headers, 'webhook-id');
  const timestamp = headerIn(headers, 'webhook-timestamp');
  const signatures = headerIn(headers, 'webhook-signature')
    .split(' ', MOST_SIGNATURES)
    .flatMap((one) => (one.startsWith('v1,') ? (bytesOf(one.slice('v1,'.length)) ?? []) : []));
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('timestamp-unreadable');
  const ageS = Math.floor(now / 1_000) - Number(timestamp);
  if (Math.abs(ageS) > TOLERANCE_S) throw new WebhookError(ageS > 0 ? 'too-old' : 'too-new');
  const signed = await new Blob([`${id}.${timestamp}.`, payload]).arrayBuffer();
  if (!(await isSigned(signed, signatures, [secrets].flat()))) throw new WebhookError('signature-wrong');
  return messageIn(typeof payload === 'string' ? payload : new TextDecoder().decode(payload));
}

/** True if a signature was made with one of the secrets. The comparison takes the same time for every signature. */
async function isSigned(
  signed: ArrayBuffer,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  secrets: readonly string[],
) {
  const { subtle } = globalThis.crypto;
  for (const secret of secrets) {
    const bytes = bytesOf(secret.replace(/^whsec_/, ''));
    if (bytes === undefined || bytes.length === 0) throw new TypeError('a secret must be whsec_ followed by base64');
    const key = await subtle.importKey('raw', bytes, HMAC, false, ['verify']);
    for (const signature of signatures) {
      if (await subtle.verify(HMAC, key, signature, signed)) return true;
    }
  }
  return false;
}

function messageIn(body: string): OrderSyncEvent | TestMessage {
  try {
    const message = JSON.parse(body) as OrderSyncEvent | TestMessage;
    return message.type === 'webhook.test' ? message : withCursor(message);
  } catch {
    throw new WebhookError('payload-unreadable');
  }
}

function headerIn(headers: WebhookHeaders, name: string): string {
  const isGetter = (one: WebhookHeaders): one is Headers => typeof one.get === 'function';
  const value = isGetter(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookError('header-missing');
  return value;
}

/** Returns the bytes of a text in base64; undefined if the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
