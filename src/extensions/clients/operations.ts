import { endpointsOf } from './endpoints/endpoints.ts';
import { z } from 'zod';
import * as schemas from './endpoints/schemas.ts';
import { adoptLink, makeLink, whenUnknown } from './links.ts';
import { requestPhotos } from './photos.ts';
import { rememberedLink } from './link.ts';
import { listLinks } from './tables/links.ts';
import { done } from '../api/envelope.ts';
import { sendOnce } from '../api/keyed/keyed-requests.ts';
import { countParameter, named, operation, textParameter } from '../api/operation.ts';
import { EXCHANGE_ERRORS, LOOKUP_ERRORS, OWN_ERRORS } from '../api/operation.ts';

const tag = 'clients';
const TOKEN_FOR = 'A token for a verification flow';
const CUSTOMER = 'A customer of the card-payment provider (§2.4). Personal data.';
const linkId = textParameter('Id of a link (§2.1).', 'link-1');
const params = z.object({ linkId });
const ofLink = { tag, params, errors: LOOKUP_ERRORS } as const;
const level = z
  .enum(schemas.VERIFICATION_LEVELS)
  .meta({ description: 'A verification flow (§4.4).', examples: ['MAIN'] });
const email = z.string().describe('Address of the client. It is passed to the exchange and kept nowhere.');
const linkValue = named('Link', 'A client link (§2.1).', schemas.link, { linkId: 'link-1', status: 'NOT_VERIFIED' });
const reference = z.string().nullish().describe('Your own name for the link; no e-mail address.');

const at = '2026-01-05T12:00:00.000Z';
const times = { created_at: at, updated_at: at, last_checked_at: at, missing_since: null };
const rememberedLinksValue = named('RememberedLinks', 'Remembered links, the newest first.', z.array(rememberedLink), [
  { link_id: 'link-1', reference: 'customer-7', source: 'created', status: 'NOT_VERIFIED', ...times },
]);
const token = { linkId: 'link-1', token: '<ACCESS_TOKEN>', tokenValidTill: '2026-01-05T12:00:00Z' };
const customer = { customerNumber: 'c-1', firstName: 'Ada', lastName: 'Example', linkId: 'link-1' };
const sdkToken = { token: '<SDK_TOKEN>', expiresAt: '2026-01-05T12:00:00Z' };
const requestId = z
  .string()
  .describe('The id of the request. It is listed with each photo, and the event `photos.received` has it.');
const withRequest = schemas.validation.extend({ requestId });
const photosAsked = { status: 'ok', requestId: '0f8e2c5a7b1d4e6f9a3c5b7d9e1f2a4c' };

export const OPERATIONS = {
  createLink: operation({
    tag,
    summary: 'Registers a client and makes a link, or links a registered client (§4.1). The link is remembered.',
    description:
      'The exchange sends the id of a new link only once. If the outcome is unknown, use validateEmail to see if the address ' +
      'has a link now; the exchange has no look-up of links by address. A repeated request with the same `Idempotency-Key` makes ' +
      'no second link: its answer has the id and the status of the first link.',
    body: z.strictObject({ email, reference }).meta({ examples: [{ email: '<EMAIL>', reference: 'customer-7' }] }),
    value: linkValue,
    errors: [...EXCHANGE_ERRORS, '409', '413', '422'],
    run: (deps, input, signal) => {
      const asked = { email: input.email, reference: input.reference ?? null };
      return sendOnce(deps, ['createLink', asked], whenUnknown(deps.account), (keep) =>
        // Only the id and the status are kept, because the exchange may put the e-mail address into its answer.
        makeLink(deps, asked, signal, (tx, link) =>
          keep(tx, JSON.stringify({ linkId: link.linkId, status: link.status })),
        ),
      );
    },
  }),
  validateEmail: operation({
    tag,
    summary: 'Asks whether a link could be made for an e-mail address (§4.2).',
    body: z.strictObject({ email }).meta({ examples: [{ email: '<EMAIL>' }] }),
    value: named('Validation', 'A link for the address could be made (§4.2).', schemas.validation, { status: 'OK' }),
    errors: [...EXCHANGE_ERRORS, '413'],
    run: ({ exchange }, input, signal) => endpointsOf(exchange).validateEmail(input.email, signal),
  }),
  showLink: operation({
    ...ofLink,
    summary: 'The link and its verification status (§4.3).',
    value: linkValue,
    run: ({ exchange }, input, signal) => endpointsOf(exchange).showLink(input.linkId, signal),
  }),
  followLink: operation({
    tag,
    summary: 'Looks a link up (§4.3) and remembers it.',
    params,
    body: z
      .strictObject({ reference })
      .nullish()
      .meta({ examples: [{ reference: 'customer-7' }] }),
    value: linkValue,
    errors: [...LOOKUP_ERRORS, '413'],
    run: adoptLink,
  }),
  verificationToken: operation({
    ...ofLink,
    summary: `${TOKEN_FOR} (§4.4).`,
    params: z.object({ linkId, level }),
    value: named('VerificationToken', `${TOKEN_FOR} (§2.2). A secret.`, schemas.verificationToken, token),
    run: ({ exchange }, input, signal) => endpointsOf(exchange).verificationToken(input.linkId, input.level, signal),
  }),
  requestPhotos: operation({
    tag,
    summary: 'Asks for the delivery of verification photos (§4.5). If you send no token, order-sync makes one.',
    params,
    body: z
      .strictObject({
        level,
        actionId: z.string().nullish().describe('With the level LIVENESS only.'),
        token: z.string().nullish().describe('Your own token, which comes back with the delivery. A secret.'),
      })
      .refine((body) => body.level === 'LIVENESS' || (body.actionId ?? null) === null, {
        path: ['actionId'],
        error: 'needs the level LIVENESS',
      })
      .meta({ examples: [{ level: 'LIVENESS', actionId: 'action-1' }] }),
    value: named('PhotoRequest', 'The delivery is asked for (§4.5).', withRequest, photosAsked),
    errors: [...LOOKUP_ERRORS, '413'],
    run: requestPhotos,
  }),
  showCustomer: operation({
    ...ofLink,
    summary: "The client's record at the card-payment provider (§4.6).",
    value: named('Customer', CUSTOMER, schemas.customer, customer),
    run: ({ exchange }, input, signal) => endpointsOf(exchange).showCustomer(input.linkId, signal),
  }),
  listCards: operation({
    ...ofLink,
    summary: "The client's saved cards (§4.7), numbers and tokens as the exchange sends them.",
    value: named(
      'Cards',
      'Saved cards (§2.5). Numbers as the exchange sends them; tokens are secrets.',
      schemas.cards,
      [{ id: 'card-1', bank: 'A Bank', country: 'DE', number: '<CARD_NUMBER>', token: '<CARD_TOKEN>', type: 'VISA' }],
    ),
    run: ({ exchange }, input, signal) => endpointsOf(exchange).listCards(input.linkId, signal),
  }),
  sdkToken: operation({
    ...ofLink,
    summary: 'A short-lived SDK token (§4.8).',
    value: named('SdkToken', 'An SDK token (§2.3). A secret.', schemas.sdkToken, sdkToken),
    run: ({ exchange }, input, signal) => endpointsOf(exchange).sdkToken(input.linkId, signal),
  }),
  listLinks: operation({
    tag: 'links',
    summary: 'The newest remembered links, from the database.',
    query: z.object({
      status: textParameter('Only links with this status.', 'NOT_VERIFIED').optional(),
      limit: countParameter('The most links to return.', 1_000, 50),
    }),
    value: rememberedLinksValue,
    errors: OWN_ERRORS,
    async run({ store, account }, filter) {
      const links = await listLinks(store.db, { account, ...filter });
      return done(links.map(({ account: _account, ...link }) => link));
    },
  }),
};
