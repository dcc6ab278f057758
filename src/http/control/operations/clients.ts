import { z } from 'zod';
import { VERIFICATION_LEVELS } from '../../../exchange/schemas.ts';
import { adoptLink, makeLink } from '../../../flows/clients/links.ts';
import { requestPhotos } from '../../../flows/clients/photos.ts';
import { EXCHANGE_ERRORS, LOOKUP_ERRORS } from './errors.ts';
import { operation } from './operation.ts';
import {
  cardsValue,
  customerValue,
  deliveryValue,
  linkValue,
  sdkTokenValue,
  validationValue,
  verificationTokenValue,
} from './values.ts';

const tag = 'clients';
const linkId = z.string().meta({ description: 'Id of a link (§2.1).', examples: ['link-1'] });
const params = z.object({ linkId });
const level = z.enum(VERIFICATION_LEVELS).meta({ description: 'A verification flow (§4.4).', examples: ['MAIN'] });
const email = z.string().describe('Address of the client. It is passed to the exchange and kept nowhere.');
const reference = z.string().nullish().describe('Your own name for the link; no e-mail address.');

/** Operations about clients: §4.1 to §4.8. */
export const CLIENT_OPERATIONS = {
  createLink: operation({
    tag,
    summary: 'Registers a client and makes a link, or links a registered client (§4.1). The link is remembered.',
    description:
      'The exchange tells the id of a new link once. After an unknown outcome ask whether the address has a link now ' +
      '(validateEmail); the exchange has no look-up of links by address.',
    body: z.strictObject({ email, reference }).meta({ examples: [{ email: '<EMAIL>', reference: 'customer-7' }] }),
    values: { 200: linkValue },
    errors: [...EXCHANGE_ERRORS, '413'],
    run: (deps, input, signal) => makeLink(deps, { ...input, reference: input.reference ?? null }, signal),
  }),
  validateEmail: operation({
    tag,
    summary: 'Asks whether a link could be made for an e-mail address (§4.2).',
    body: z.strictObject({ email }).meta({ examples: [{ email: '<EMAIL>' }] }),
    values: { 200: validationValue },
    errors: [...EXCHANGE_ERRORS, '413'],
    run: ({ exchange }, input, signal) => exchange.validateEmail(input.email, signal),
  }),
  showLink: operation({
    tag,
    summary: 'The link and its verification status (§4.3).',
    params,
    values: { 200: linkValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showLink(input.linkId, signal),
  }),
  followLink: operation({
    tag,
    summary: 'Looks a link up (§4.3) and remembers it.',
    params,
    body: z
      .strictObject({ reference })
      .nullish()
      .meta({ examples: [{ reference: 'customer-7' }] }),
    values: { 200: linkValue },
    errors: [...LOOKUP_ERRORS, '413'],
    run: (deps, input, signal) => adoptLink(deps, { ...input, reference: input.reference ?? null }, signal),
  }),
  verificationToken: operation({
    tag,
    summary: 'A token for a verification flow (§4.4).',
    params: z.object({ linkId, level }),
    values: { 200: verificationTokenValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.verificationToken(input.linkId, input.level, signal),
  }),
  requestPhotos: operation({
    tag,
    summary: 'Asks for the delivery of verification photos (§4.5). The token that it takes is made here.',
    params,
    body: z
      .strictObject({ level, actionId: z.string().nullish().describe('With the level LIVENESS only.') })
      .refine((body) => body.level === 'LIVENESS' || (body.actionId ?? null) === null, {
        path: ['actionId'],
        error: 'is taken with the level LIVENESS only',
      })
      .meta({ examples: [{ level: 'LIVENESS', actionId: 'action-1' }] }),
    values: { 200: deliveryValue },
    errors: [...LOOKUP_ERRORS, '413'],
    run: (deps, input, signal) => requestPhotos(deps, { ...input, actionId: input.actionId ?? undefined }, signal),
  }),
  showCustomer: operation({
    tag,
    summary: "The client's record at the card-payment provider (§4.6).",
    params,
    values: { 200: customerValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showCustomer(input.linkId, signal),
  }),
  listCards: operation({
    tag,
    summary: "The client's saved cards (§4.7), numbers and tokens as the exchange gives them.",
    params,
    values: { 200: cardsValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.listCards(input.linkId, signal),
  }),
  sdkToken: operation({
    tag,
    summary: 'A short-lived SDK token (§4.8).',
    params,
    values: { 200: sdkTokenValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.sdkToken(input.linkId, signal),
  }),
};
