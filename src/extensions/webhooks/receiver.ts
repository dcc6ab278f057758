import type { WebhookState } from './tables/endpoints.ts';
import { counted } from '../documents/words.ts';

export const PRIVATE_ADDRESS = 'its address is not public';

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/not public/, 'set allowPrivate: true for the endpoint if the receiver is meant to be in a private network'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the host in the url of the endpoint, and the name server of this machine'],
  [/ECONNREFUSED/, 'check that the receiver runs, and listens on the host and port in its url'],
  [/EHOSTUNREACH|ENETUNREACH/, 'check the network and the firewalls between this machine and the receiver'],
  [/ETIMEDOUT|in time/, 'check that no firewall is in the way, and that the receiver answers within 15 s'],
  [
    /CERT|SIGNATURE|ISSUER|EPROTO|ERR_(?:SSL|TLS)/,
    'check that the port speaks TLS, and the certificate of the receiver',
  ],
  [/answers 3\d\d/, 'set the url of the endpoint to the address that the receiver redirects to'],
  [
    /answers (?:401|403)/,
    'check that the receiver has the secret of the endpoint, and that nothing in front of it asks for a login',
  ],
  [/answers (?:404|405|410)/, 'check the path in the url of the endpoint'],
  [/answers (?:408|429|502|503|504)/, 'check that the receiver runs, and keeps up with the events'],
];

export function receiverRemedy(cause: string): string {
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(cause)) ?? [];
  return remedy ?? 'read the log of the receiver';
}

/** Returns the state of a receiver in words that begin with its name, without a full stop. */
export function receiverText(receiver: WebhookState, timeText: (at: string) => string): string {
  const { name, takenAt, failingSince, nextTryAt, cause, oldestWaiting, parked, deadLetters } = receiver;
  const why = cause === null ? '' : ` (${cause})`;
  const next = nextTryAt === null ? '' : `, the next try is at ${nextTryAt}`;
  const well = takenAt === null ? 'has received no event yet' : `accepted its last event ${timeText(takenAt)}`;
  const parts = [
    `${name} ${failingSince === null ? well : `has accepted no event since ${failingSince}${why}${next}`}`,
    ...(oldestWaiting === null ? [] : [`the oldest waiting event came ${timeText(oldestWaiting)}`]),
    ...(parked === 0 ? [] : [`${counted(parked, 'refused event is', 'refused events are')} retried`]),
    ...(deadLetters === 0 ? [] : [counted(deadLetters, 'dead letter')]),
  ];
  return parts.join(', ');
}
