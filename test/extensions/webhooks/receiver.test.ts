import { expect, it } from 'vitest';
import { PRIVATE_ADDRESS, receiverRemedy, receiverText } from '../../../src/extensions/webhooks/receiver.ts';
import { outcomeOf } from '../../../src/extensions/webhooks/delivery.ts';
import { receiverState } from '../../support/reading.ts';

const answering = (status: number) => {
  const outcome = outcomeOf(status);
  return outcome.kind === 'unavailable' ? outcome.cause : `it answers ${status} to all events`;
};

it.each([
  ['it does not answer: ENOTFOUND', 'host in the url'],
  ['it does not answer: EAI_AGAIN', 'host in the url'],
  ['it does not answer: ECONNREFUSED', 'listens'],
  ['it does not answer: EHOSTUNREACH', 'firewalls'],
  ['it does not answer: ETIMEDOUT', 'within 15 s'],
  ['no answer in time', 'within 15 s'],
  ['it does not answer: CERT_HAS_EXPIRED', 'certificate'],
  ['it does not answer: DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
  ['it does not answer: UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
  ['it does not answer: EPROTO', 'TLS'],
  [PRIVATE_ADDRESS, 'allowPrivate'],
  [answering(308), 'redirects'],
  [answering(401), 'secret'],
  [answering(403), 'secret'],
  [answering(404), 'path'],
  [answering(429), 'keeps up'],
  [answering(503), 'keeps up'],
  [answering(500), 'log'],
  [answering(422), 'log'],
  ['it does not answer: ECONNRESET', 'log'],
])('of a receiver of which it says %s, the remedy speaks of: %s', (cause, part) => {
  expect(receiverRemedy(cause)).toContain(part);
});

it('says of a receiver what its state has, and nothing that contradicts it', () => {
  const told = (state: Parameters<typeof receiverState>[0]) => receiverText(receiverState(state), (at) => `at ${at}`);
  expect(told({ takenAt: null })).toBe('shop has received no event yet');
  expect(told({ takenAt: 'T', parked: 2 })).toBe('shop accepted its last event at T, 2 refused events are retried');
  expect(told({ failingSince: 'S', nextTryAt: 'N', cause: 'C', oldestWaiting: 'W', parked: 1, deadLetters: 1 })).toBe(
    'shop has accepted no event since S (C), the next try is at N, the oldest waiting event came at W, 1 refused event is retried, 1 dead letter',
  );
});
