import { nameAfter } from './scenario.ts';

/** What can be odd about a delivery (§6): all but `not-an-image` and `unfinished` are within the document. */
export const PHOTO_ODDITIES = ['details-last', 'details-file', 'repeated', 'not-an-image', 'unfinished'] as const;

/** The name of an oddity. */
export type PhotoOddity = (typeof PHOTO_ODDITIES)[number];

/** A delivery of verification photos that was asked for (§4.5). */
export interface PhotoDelivery {
  readonly url: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly actionId: string | undefined;
  /** Goes back to the merchant as it came. A secret. */
  readonly token: string | undefined;
  readonly oddity: PhotoOddity | undefined;
}

/** The oddity that the e-mail address of a client, `photos-<name>-…`, asks for. */
export function oddityOf(email: string): PhotoOddity | undefined {
  return nameAfter('photos-', email, PHOTO_ODDITIES);
}
