import { z } from 'zod';
import { VERIFICATION_LEVELS } from '../../../exchange/schemas.ts';
import { adoptLink, makeLink } from '../../../flows/clients/links.ts';
import { requestPhotos } from '../../../flows/clients/photos.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Outcome } from '../answer.ts';
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
export const CLIENT_OPERATIONS = [
  operation({
    method: 'POST',
    url: '/clients',
    operationId: 'createLink',
    tag,
    summary: 'Registers a client and makes a link, or links a registered client (§4.1). The link is remembered.',
    description:
      'The exchange tells the id of a new link once. After an unknown outcome ask whether the address has a link now ' +
      '(validateEmail); the exchange has no look-up of links by address.',
    body: z.strictObject({ email, reference }).meta({ examples: [{ email: '<EMAIL>', reference: 'customer-7' }] }),
    values: { 200: linkValue },
    errors: [...EXCHANGE_ERRORS, '413'],
    run: (deps, { body: { email: address, reference: name } }, signal) =>
      makeLink(deps, { email: address, reference: name ?? null }, signal).catch(notRemembered),
  }),
  operation({
    method: 'POST',
    url: '/clients/validate',
    operationId: 'validateEmail',
    tag,
    summary: 'Asks whether a link could be made for an e-mail address (§4.2).',
    body: z.strictObject({ email }).meta({ examples: [{ email: '<EMAIL>' }] }),
    values: { 200: validationValue },
    errors: [...EXCHANGE_ERRORS, '413'],
    run: ({ exchange }, { body }, signal) => exchange.validateEmail(body.email, signal),
  }),
  operation({
    method: 'GET',
    url: '/clients/:linkId',
    operationId: 'showLink',
    tag,
    summary: 'The link and its verification status (§4.3).',
    params,
    values: { 200: linkValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, { params: { linkId: id } }, signal) => exchange.showLink(id, signal),
  }),
  operation({
    method: 'POST',
    url: '/clients/:linkId/follow',
    operationId: 'followLink',
    tag,
    summary: 'Looks a link up (§4.3) and remembers it.',
    params,
    body: z
      .strictObject({ reference })
      .nullish()
      .meta({ examples: [{ reference: 'customer-7' }] }),
    values: { 200: linkValue },
    errors: [...LOOKUP_ERRORS, '413'],
    run: (deps, { params: { linkId: id }, body }, signal) =>
      adoptLink(deps, { linkId: id, reference: body?.reference ?? null }, signal),
  }),
  operation({
    method: 'GET',
    url: '/clients/:linkId/idv/:level',
    operationId: 'verificationToken',
    tag,
    summary: 'A token for a verification flow (§4.4).',
    params: z.object({ linkId, level }),
    values: { 200: verificationTokenValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, { params: { linkId: id, level: flow } }, signal) =>
      exchange.verificationToken(id, flow, signal),
  }),
  operation({
    method: 'POST',
    url: '/clients/:linkId/idv/photos',
    operationId: 'requestPhotos',
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
    run: (deps, { params: { linkId: id }, body }, signal) => {
      const actionId = body.actionId ?? undefined;
      return requestPhotos(
        deps,
        { linkId: id, level: body.level, ...(actionId !== undefined && { actionId }) },
        signal,
      );
    },
  }),
  operation({
    method: 'GET',
    url: '/clients/:linkId/customer',
    operationId: 'showCustomer',
    tag,
    summary: "The client's record at the card-payment provider (§4.6).",
    params,
    values: { 200: customerValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, { params: { linkId: id } }, signal) => exchange.showCustomer(id, signal),
  }),
  operation({
    method: 'GET',
    url: '/clients/:linkId/cards',
    operationId: 'listCards',
    tag,
    summary: "The client's saved cards (§4.7), numbers and tokens as the exchange gives them.",
    params,
    values: { 200: cardsValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, { params: { linkId: id } }, signal) => exchange.listCards(id, signal),
  }),
  operation({
    method: 'POST',
    url: '/clients/:linkId/sdk-token',
    operationId: 'sdkToken',
    tag,
    summary: 'A short-lived SDK token (§4.8).',
    params,
    values: { 200: sdkTokenValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, { params: { linkId: id } }, signal) => exchange.sdkToken(id, signal),
  }),
];

/** A link that was made but cannot be remembered: asked for again it would be refused. The message names it. */
function notRemembered(error: unknown): Outcome {
  // Without such a cause the database refused before the request.
  if (!(error instanceof StoreError) || !(error.cause instanceof StoreError)) throw error;
  return { kind: 'failed', message: error.message, httpStatus: 500 };
}
