import { stringify } from 'lossless-json';
import { REFUSALS, type Refusal, type RefusalName } from './refusals.ts';

/** A request to the sandbox; header names are in lower case. */
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
}

/** Makes an answer in JSON; lossless numbers keep every digit. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: stringify(body) ?? '' };
}

/** Makes a refusal, with another message where one is given. */
export function refuse(name: RefusalName, message?: string, headers: Record<string, string> = {}): SandboxAnswer {
  const { httpStatus, body }: Refusal = REFUSALS[name];
  return answer(httpStatus, message === undefined ? body : { ...body, message }, headers);
}
