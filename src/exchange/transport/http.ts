import type { IncomingHttpHeaders } from 'node:http';

/** One request to the exchange (§4), before the base address and the key are added. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Path from the base address, already encoded, with its query: `/api/v1/merchant/orders?externalOrderId=a`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON body as it is sent, byte for byte. */
  readonly body?: string;
  /** Texts of the request that must stand in no error, even if the exchange quotes them. */
  readonly secrets?: readonly string[];
  /** True if a person reads the answer. Then its headers are returned too, and the key is always hidden in its body. */
  readonly isExamined?: true;
}

export interface HttpResponse {
  readonly status: number;
  readonly retryAfter?: string;
  /** The body, decompressed, without a byte order mark. If it is no UTF-8, each byte is a character. */
  readonly body: string;
  readonly isUtf8?: false;
  readonly headers?: IncomingHttpHeaders;
}

/** No whole answer came. `sent` is `never` only if certainly no byte left. The error has no header, key or body. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: 'never' | 'perhaps';
  readonly code: string;
  constructor(message: string, options: { sent: 'never' | 'perhaps'; code: string }) {
    super(message);
    this.sent = options.sent;
    this.code = options.code;
  }
}

/**
 * Carries one request to the exchange and one answer back. Rejects with `TransportError` if no whole answer came. Any
 * other error is a fault of this program, such as a missing key, and does not prove that nothing was sent.
 *
 * `mayLeave` is called when a POST has its connection, right before its first byte leaves. If it returns false, nothing
 * is sent. Another process may own the account if this process stood still while it connected.
 */
export type Send = (request: HttpRequest, signal?: AbortSignal, mayLeave?: () => boolean) => Promise<HttpResponse>;

export interface Transport {
  readonly send: Send;
  close(): Promise<void>;
}
