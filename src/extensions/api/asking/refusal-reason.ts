import type { FailedReply } from '../../../exchange/reply.ts';
import type { RefusalReason } from '../../shop/errors.ts';

const BY_STATUS: Readonly<Record<string, RefusalReason>> = {
  INVALID_EMAIL: 'invalid-email',
  LINK_ALREADY_EXISTS: 'link-already-exists',
  BAD_REQUEST: 'bad-request',
};

/** Says which documented refusal a reply is (§7). The message is for people and decides nothing. */
export function refusalReason({ httpStatus, error }: Extract<FailedReply, { kind: 'refused' }>): RefusalReason {
  // Documented for links. The exchange answers the same for other things that it does not have.
  if (httpStatus === 404 && error.status === 'NOT_FOUND') return 'not-found';
  if (error.status === undefined && error.code === 'INVALID_VALUE') return 'upload-url-not-set';
  return (httpStatus === 400 ? BY_STATUS[error.status ?? ''] : undefined) ?? 'other';
}
