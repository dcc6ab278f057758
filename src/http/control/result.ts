import type { FailedReply } from '../../exchange/reply.ts';

/** This program itself refuses a request: nothing was sent to the exchange. */
export interface OwnRefusal {
  /** `unusable`: an id cannot be sent. `invalid`: the request is wrong. `failed`: the request is right, and the log says why it failed. */
  readonly kind: 'unusable' | 'invalid' | 'failed';
  readonly message: string;
  readonly httpStatus: number;
}

/** The result of an operation. `body` is JSON as the exchange wrote it, with every digit. */
export type Result =
  | { readonly kind: 'ok'; readonly body: string; readonly httpStatus?: number }
  | FailedReply
  | OwnRefusal;

/** A result that is no success. */
export type FailedResult = Exclude<Result, { kind: 'ok' }>;
