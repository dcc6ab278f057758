import type { FailedReply } from './reply.ts';

/** The exchange has never taken a key with this database: a wrong setting, not a passing fault. */
export class KeyRefusedError extends Error {
  override readonly name = 'KeyRefusedError';
}

/** The refusals that the interface documents (§7), each by a name of ours; `other` is everything else, as received. */
export type RefusalReason =
  | 'not-found'
  | 'invalid-email'
  | 'link-already-exists'
  | 'bad-request'
  | 'upload-url-not-set'
  | 'other';

const BY_STATUS: Readonly<Record<string, RefusalReason>> = {
  INVALID_EMAIL: 'invalid-email',
  LINK_ALREADY_EXISTS: 'link-already-exists',
  BAD_REQUEST: 'bad-request',
};

/** Says which documented refusal a reply is (§7). The message is for people and decides nothing. */
export function refusalReason({ httpStatus, error }: Extract<FailedReply, { kind: 'refused' }>): RefusalReason {
  // Documented for links; what else the exchange does not have is said in the same words.
  if (httpStatus === 404 && error.status === 'NOT_FOUND') return 'not-found';
  if (error.status === undefined && error.code === 'INVALID_VALUE') return 'upload-url-not-set';
  return (httpStatus === 400 ? BY_STATUS[error.status ?? ''] : undefined) ?? 'other';
}
