import { PHOTO_ODDITIES } from './photos.ts';
import { VERIFICATIONS } from './verification.ts';

/** The e-mail addresses of clients (§4.1) that make the sandbox do something special, with what it does. */
export const EMAIL_INPUTS: readonly (readonly [input: string, effect: string])[] = [
  ['without one @ between two parts', '400 INVALID_EMAIL'],
  ['the same a second time', '400 LINK_ALREADY_EXISTS'],
  ['bad-request…', '400 BAD_REQUEST'],
  ['no-cards…', 'the customer has no saved card'],
  ['no-upload-url…', 'photos are refused with INVALID_VALUE, as where no delivery address is set'],
  ['verification-NAME-…', `how its verification goes on: ${Object.keys(VERIFICATIONS).join(', ')}`],
  ['photos-NAME-…', `how its photos are delivered: ${PHOTO_ODDITIES.join(', ')}`],
];
