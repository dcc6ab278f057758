import { createHmac, hash } from 'node:crypto';
import { after } from '../../../base/instant.ts';
import { UnusableIdError } from '../../../exchange/ids.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Transaction, Work } from '../../../store/port.ts';
import { invalid, type Result } from '../envelope.ts';
import type { CalledDeps } from '../operation.ts';
import { forgetOldRequests, forgetRequest, readRequest, writeRequest } from '../tables/idempotent-requests.ts';
import type { IdempotentRequest } from '../tables/idempotent-requests.ts';

const KEPT_FOR_MS = 24 * 60 * 60_000;

type KeyedDeps = Pick<CalledDeps, 'account' | 'store' | 'clock' | 'caller' | 'idempotencyKey'>;
/** The content of a request, in a fixed order. A known key with other content is refused. */
type Asked = readonly unknown[];

/**
 * Makes a decision in a transaction, which also writes the answer if the request has a key. A later request with this
 * key gets the kept answer, whichever process drives the account. A refusal is not kept, because it changes nothing.
 */
export async function decideOnce(deps: KeyedDeps, asked: Asked, decide: Work<Result>): Promise<Result> {
  const request = requestOf(deps, asked);
  if (request === undefined) return await deps.store.writer.write(decide);
  return await deps.store.writer.write(async (tx) => {
    const known = await knownAnswer(tx, request);
    if (known !== undefined) return known;
    const result = await decide(tx);
    if (result.kind === 'ok') await writeRequest(tx, answered(request, result.body, result.httpStatus));
    return result;
  });
}

/** Keeps the answer for the key of its request, in the transaction that records the outcome of the request. */
type KeepAnswer = (tx: Transaction, answer: string) => Promise<void>;

/**
 * Sends a request to the exchange after its key is durable. A later request with this key gets the kept answer, or
 * `unknown` with `whyUnknown` if no answer is kept. If a request was refused or not sent, its key is deleted.
 */
export async function sendOnce(
  deps: KeyedDeps & Pick<CalledDeps, 'gracePeriodOver'>,
  asked: Asked,
  whyUnknown: string,
  send: (keep: KeepAnswer) => Promise<Result>,
): Promise<Result> {
  const request = requestOf(deps, asked);
  if (request === undefined) return await send(async () => {});
  const { writer } = deps.store;
  const known = await writer.write(async (tx) => {
    const answer = await knownAnswer(tx, request, whyUnknown);
    if (answer === undefined) await writeRequest(tx, request);
    return answer;
  });
  if (known !== undefined) return known;
  const forgetIt = (tx: Transaction) => forgetRequest(tx, request);
  const forget = async () => await writer.writeUntilDurable(forgetIt, deps.gracePeriodOver, () => {});
  try {
    const result = await send(async (tx, answer) => await writeRequest(tx, answered(request, answer)));
    if (result.kind !== 'ok' && result.kind !== 'unknown') await forget();
    return result;
  } catch (error) {
    if (isNeverSent(error)) await forget();
    throw error;
  }
}

/** If the cause is a `StoreError`, the exchange may have done the work: the outcome of a commit is not known. */
function isNeverSent(error: unknown): boolean {
  return error instanceof UnusableIdError || (error instanceof StoreError && !(error.cause instanceof StoreError));
}

/** Returns the row of a request. The row reveals neither the key nor, without the key, the body. */
function requestOf({ account, caller, clock, idempotencyKey: key }: KeyedDeps, asked: Asked) {
  if (key === undefined) return undefined;
  return {
    account,
    key_hash: hash('sha256', JSON.stringify([caller.name, key])),
    body_hash: createHmac('sha256', key).update(JSON.stringify(asked)).digest('hex'),
    http_status: null,
    answer: null,
    made_at: clock.now().toISOString(),
  };
}

const answered = (asked: IdempotentRequest, answer: string, http_status = 200) => ({ ...asked, http_status, answer });

const CHECK_FIRST = 'check whether it took effect before you send it again with a new key';

async function knownAnswer(tx: Transaction, request: IdempotentRequest, whyUnknown = CHECK_FIRST) {
  const since = after(new Date(request.made_at), -KEPT_FOR_MS).toISOString();
  await forgetOldRequests(tx, request.account, since);
  const known = await readRequest(tx, request, since);
  if (known === undefined) return undefined;
  if (known.body_hash !== request.body_hash)
    return invalid('another request has used this Idempotency-Key', 422, 'key-reused');
  if (known.answer === null || known.http_status === null) {
    const why = `a request with this Idempotency-Key began at ${known.made_at} and has no stored answer; ${whyUnknown}`;
    return { kind: 'unknown', why, httpStatus: 409 } satisfies Result;
  }
  return { kind: 'ok', body: known.answer, httpStatus: known.http_status, isReplay: true } satisfies Result;
}
