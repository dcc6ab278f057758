import type { z } from 'zod';
import { isPlainText } from '../../../base/text.ts';
import type { ExchangeClient, Question } from '../../../exchange/client.ts';
import { CLIENTS, get } from '../../../exchange/addresses.ts';
import { pathId, UnusableIdError, unusable } from '../../../exchange/ids.ts';
import { readJson } from '../../../exchange/json.ts';
import { answerOf, errorBody, hide, hiding, keepable, readReply, type UnreadReply } from '../../../exchange/reply.ts';
import type { HttpRequest } from '../../../exchange/transport/http.ts';
import { isSuccess, type Answer } from '../../../orders/rules/record.ts';
import * as schemas from './schemas.ts';

export interface PhotoRequest {
  readonly level: schemas.VerificationLevel;
  /** The exchange uses this id with the level `LIVENESS` only. */
  readonly actionId?: string | null | undefined;
  /** The delivery (§6) returns this token. */
  readonly token?: string | undefined;
}

type Asking = Pick<ExchangeClient, 'ask' | 'askInTurn' | 'sendForPerson'>;

/** The endpoints of clients (§4.1–4.8). A method rejects with `UnusableIdError` if it cannot send an id or address. */
export const endpointsOf = (exchange: Asking) => ({
  /** §4.1. `onUnread` receives a 2xx answer without a readable link, because the link id is sent only once. */
  async createLink(email: string, signal?: AbortSignal, onUnread?: (answer: Answer) => void) {
    const received = await exchange.sendForPerson(post(CLIENTS, { email: emailAddress(email) }, [email]), signal);
    const reply = readReply(received, schemas.link);
    const answer = answerOf(received);
    if (reply.kind !== 'ok' && answer !== undefined && isSuccess(answer))
      onUnread?.(keepable({ ...answer, body: hide([email], answer.body) }));
    return reply;
  },
  /** §4.2: the status is `OK` if a link could be made for the e-mail address. */
  async validateEmail(email: string, signal?: AbortSignal) {
    const request = post(`${CLIENTS}/validate/email`, { email: emailAddress(email) }, [email]);
    return await exchange.ask({ request, schema: schemas.validation }, signal);
  },
  /** §4.3: the link and its verification status. */
  showLink: async (linkId: string, signal?: AbortSignal) =>
    await exchange.ask(aboutLink(linkId, '', schemas.link), signal),
  /** §4.3: asks once, in the lane of the look-ups. Returns undefined if the request gets no turn. */
  lookUpLink: async (linkId: string, signal?: AbortSignal) =>
    await exchange.askInTurn(aboutLink(linkId, '', schemas.link), `link ${linkId}`, signal),
  /** §4.4: an access token for a verification flow. A secret. */
  verificationToken: async (linkId: string, level: schemas.VerificationLevel, signal?: AbortSignal) =>
    await exchange.ask(aboutLink(linkId, `/idv/${level}`, schemas.verificationToken), signal),
  /** §4.5: asks for the delivery of verification photos (§6). */
  async requestPhotos(linkId: string, { level, actionId, token }: PhotoRequest, signal?: AbortSignal) {
    const body = { kycLevelType: level, ...(level === 'LIVENESS' && { actionId: actionId ?? undefined }), token };
    const secrets = token === undefined ? [] : [token];
    const request = post(`${CLIENTS}/${pathId(linkId)}/idv/photos/external/upload`, body, secrets);
    return readReply(uploadRefusal(await exchange.sendForPerson(request, signal), secrets), schemas.validation);
  },
  /** §4.6: the customer record of the card-payment provider. Personal data. */
  showCustomer: async (linkId: string, signal?: AbortSignal) =>
    await exchange.ask(aboutLink(linkId, '/cardprov/customer', schemas.customer), signal),
  /** §4.7: the customer's saved cards. Personal data, and tokens that are secrets. */
  async listCards(linkId: string, signal?: AbortSignal) {
    const request = get(`${CLIENTS}/${pathId(linkId)}/cardprov/customer/card`);
    return await exchange.ask({ request, schema: schemas.cards }, signal);
  },
  /** §4.8: an SDK token, a secret. The id is sent as parameter and as header, because §4.8 lists both. */
  async sdkToken(linkId: string, signal?: AbortSignal) {
    const path = `/api/v1/merchant/sdk/token?linkId=${pathId(linkId)}`;
    const request: HttpRequest = { method: 'POST', path, headers: { linkId: headerId(linkId) } };
    return await exchange.ask({ ...aboutLink(linkId, '', schemas.sdkToken), request }, signal);
  },
});

function aboutLink<Value>(id: string, path: string, schema: z.ZodType<Value>): Question<Value> {
  return { request: get(`${CLIENTS}/${pathId(id)}${path}`), schema, asked: { what: 'link', field: 'linkId', id } };
}

/** Reads the error of §4.5 as a refusal under any HTTP status but 401 and 429, because §7 states no HTTP status. */
function uploadRefusal(reply: UnreadReply, secrets: readonly string[]): UnreadReply {
  const answer = answerOf(reply);
  const error = answer && errorBody.safeParse(readJson(answer.body)).data;
  if (answer === undefined || error?.code !== 'INVALID_VALUE' || error.status !== undefined) return reply;
  return { kind: 'refused', httpStatus: answer.httpStatus, error: hiding(secrets, error), answer };
}

const MAX_EMAIL_LENGTH = 254;

/** Returns an id as the value of a header (§4.8). Throws `UnusableIdError` if the id cannot be sent. */
export function headerId(id: string): string {
  if (id === '.' || id === '..' || !isPlainText(id) || !/^[\u0021-\u007e]+$/.test(id)) throw unusable(id, 'an id');
  return id;
}

/** Checks only if the address can be sent, because the exchange validates it (§4.1). Throws `UnusableIdError`. */
export function emailAddress(email: string): string {
  // The message does not quote the address, because an address is personal data.
  if (!isPlainText(email) || email.length > MAX_EMAIL_LENGTH) {
    throw new UnusableIdError('the e-mail address is empty, too long or has control characters; check it');
  }
  return email;
}

/** Returns a request with a JSON body. Error messages hide `secrets`. */
export function post(path: string, body: Record<string, string | undefined>, secrets: readonly string[]): HttpRequest {
  return { method: 'POST', path, body: JSON.stringify(body), secrets };
}
