import { stringify } from 'lossless-json';
import { z } from 'zod';
import type { PhotoDelivery } from './photos.ts';

/** A request to the sandbox; header names are in lower case. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly delivery?: PhotoDelivery;
}

export function answer(status: number, body: unknown, headers: Record<string, string> = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: stringify(body) ?? '' };
}

/** The refusals of §7, and below them refusals that the interface does not show. */
export const REFUSALS = {
  keyRefused: refusal(401, 'UNAUTHORIZED', 'invalid x-api-key'),
  invalidEmail: refusal(400, 'INVALID_EMAIL', 'validation errors'),
  linkAlreadyExists: refusal(400, 'LINK_ALREADY_EXISTS', 'validation errors'),
  badEmailRequest: refusal(400, 'BAD_REQUEST', 'validation errors'),
  linkNotFound: refusal(404, 'NOT_FOUND', 'link not found'),
  uploadUrlNotSet: { httpStatus: 400, body: { message: 'Upload url was not set', code: 'INVALID_VALUE' } },

  malformed: refusal(400, 'BAD_REQUEST', 'the request is not one of the interface'),
  preOrderNotFound: refusal(404, 'NOT_FOUND', 'pre-order not found'),
  orderNotFound: refusal(404, 'NOT_FOUND', 'order not found'),
  noSuchEndpoint: refusal(404, 'NOT_FOUND', 'no such endpoint'),
  tooManyRequests: refusal(429, 'TOO_MANY_REQUESTS', 'too many requests'),
};

export type RefusalName = keyof typeof REFUSALS;

function refusal(httpStatus: number, status: string, message: string) {
  return { httpStatus, body: { message, code: String(httpStatus), status } };
}

export function refuse(name: RefusalName, message?: string, headers: Record<string, string> = {}): SandboxAnswer {
  const { httpStatus, body } = REFUSALS[name];
  return answer(httpStatus, message === undefined ? body : { ...body, message }, headers);
}

export const levelSchema = z.enum(['MAIN', 'LIVENESS']);

/** Refuses fields that the interface does not show, because such a field is an error of the sender. */
export function bodyOf<Shape extends z.ZodRawShape>(fields: Shape) {
  return z.strictObject(fields, {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined),
  });
}

export const emailRequest = bodyOf({ email: z.string() });

export const photoRequest = bodyOf({
  kycLevelType: levelSchema,
  actionId: z.string().nullish(),
  token: z.string().nullish(),
});
export type PhotoRequest = z.infer<typeof photoRequest>;
