import { stringify } from 'lossless-json';
import type { PhotoDelivery } from './photos.ts';

/** A request as the sandbox sees it; header names in lower case. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** An answer of the sandbox. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What is to be delivered to the merchant after the answer (§6). */
  readonly delivery?: PhotoDelivery;
}

/** An answer in JSON; lossless numbers keep every digit. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: stringify(body) ?? '' };
}

/** A refusal in the shape of §7. */
export function refusal(
  httpStatus: number,
  status: string,
  message: string,
  headers: Record<string, string> = {},
): SandboxAnswer {
  return answer(httpStatus, { message, code: String(httpStatus), status }, headers);
}

/** What was sent is not what the interface says. */
export function badRequest(message: string): SandboxAnswer {
  return refusal(400, 'BAD_REQUEST', message);
}

/** What was asked for is not there. */
export function notFound(message: string): SandboxAnswer {
  return refusal(404, 'NOT_FOUND', message);
}
