import { z } from 'zod';
import { worded } from '../../../exchange/json.ts';
import { storable } from '../../../base/text.ts';

const text = z.string().nullish();

/** A client link (§2.1). The status is an open string. */
export const link = z.looseObject({
  linkId: worded.pipe(z.string().min(1)),
  status: z.string().transform(storable),
});

export type Link = z.output<typeof link>;

export const validation = z.looseObject({ status: z.string() });

/** A token for a verification flow (§2.2). */
export const verificationToken = z.looseObject({
  linkId: worded,
  token: z.string().min(1),
  tokenValidTill: z.string(),
});

/** An SDK token (§2.3). */
export const sdkToken = z.looseObject({ token: z.string().min(1), expiresAt: z.string() });

/** A customer of the card-payment provider (§2.4): personal data. */
export const customer = z.looseObject({
  customerNumber: worded.nullish(),
  firstName: text,
  lastName: text,
  linkId: worded.nullish(),
});

/** Cards of a customer (§2.5): personal data, and a token that is a secret. */
export const cards = z.array(
  z.looseObject({ id: worded.nullish(), bank: text, country: text, number: text, token: text, type: text }),
);

export const VERIFICATION_LEVELS = ['MAIN', 'LIVENESS'] as const;

export type VerificationLevel = (typeof VERIFICATION_LEVELS)[number];
