import type { FailedReply } from '../../../exchange/reply.ts';
import type { RefusalReason } from '../../shop/errors.ts';

const BY_STATUS: Readonly<Record<string, RefusalReason>> = {
  INVALID_EMAIL: 'invalid-email',
  LINK_ALREADY_EXISTS: 'link-already-exists',
  BAD_REQUEST: 'bad-request',
};

/** Returns the documented refusal (§7) of a reply. The message is not examined, because it is for people. */
export function refusalReason({ httpStatus, error }: Extract<FailedReply, { kind: 'refused' }>): RefusalReason {
  // §7 shows this answer for links. The exchange may answer so about other unknown ids too.
  if (httpStatus === 404 && error.status === 'NOT_FOUND') return 'not-found';
  if (error.status === undefined && error.code === 'INVALID_VALUE') return 'upload-url-not-set';
  return (httpStatus === 400 ? BY_STATUS[error.status ?? ''] : undefined) ?? 'other';
}
