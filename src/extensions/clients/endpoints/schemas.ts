import { z } from 'zod';
import { textOrDigits } from '../../../exchange/json.ts';
import { storable } from '../../../base/text.ts';

const text = z.string().nullish();

const status = z.string().transform(storable);
/** A client link (§2.1). The status may be any text. */
export const link = z.looseObject({ linkId: textOrDigits.pipe(z.string().min(1)), status });

export type Link = z.output<typeof link>;

export const validation = z.looseObject({ status: z.string() });

const token = z.string().min(1);
/** A token for a verification flow (§2.2). */
export const verificationToken = z.looseObject({ linkId: textOrDigits, token, tokenValidTill: z.string() });

/** An SDK token (§2.3). */
export const sdkToken = z.looseObject({ token, expiresAt: z.string() });

const id = textOrDigits.nullish();
/** A customer of the card-payment provider (§2.4): personal data. */
export const customer = z.looseObject({ customerNumber: id, firstName: text, lastName: text, linkId: id });

/** A card of a customer (§2.5): personal data, and a token that is a secret. */
const card = z.looseObject({ id, bank: text, country: text, number: text, token: text, type: text });
export const cards = z.array(card);

export const VERIFICATION_LEVELS = ['MAIN', 'LIVENESS'] as const;
export type VerificationLevel = (typeof VERIFICATION_LEVELS)[number];
