import type { Clock } from '../../clock.ts';
import { messageOf } from '../../domain/text.ts';
import {
  answerRequest,
  awaitedOf,
  purgeRequests,
  reportProgress,
  takeRequests,
  type NewRequest,
} from '../../store/account-requests.ts';
import { isOfDatabase } from '../../store/errors.ts';
import type { FlowDeps } from '../../flows/pass/deps.ts';
import type { Patience } from '../../flows/pass/patience.ts';
import type { Store } from '../../store/port.ts';
import { writeEnvelope, type Envelope } from './envelope.ts';
import { NOT_OWNER_RESULT } from './operations/errors.ts';
import { BrokenSealError, sealBetween, type KeyPair, type Seal } from './seal.ts';
import { NoOwnerError, socketTransport, type OwnerRequest } from './transport.ts';

/** A request waits so long at the most; each look is one statement, whatever the accounts. */
const POLL_MS = 200;
/** Fewer than the control socket takes: there is room for those on this machine. */
const MOST_AT_ONCE = 128;
const PROGRESS_MS = 500;
const PURGE_MS = 60_000;
/** An answer that the database does not take is written again, for so long. */
const WRITE_FOR_MS = 30_000;
const WRITE_AGAIN_MS = 500;
const GONE = 'the daemon went away before it answered; nobody can tell whether it was done';

/** What requests of other machines are answered with. */
export interface RelayDeps extends Pick<FlowDeps, 'clock' | 'log' | 'gracePeriodOver'> {
  readonly store: Pick<Store, 'db'>;
  readonly patience: Patience;
  /** The keys of this process; the others know the public one. */
  readonly keys: KeyPair;
  /** Its control socket, which does what is asked. */
  readonly socketPath: string;
}

/**
 * Takes what commands on other machines ask this process for, passes it on to its own control socket, and writes the answers,
 * until `stop` aborts; then those that run are finished. So whatever is true of the socket is true from elsewhere.
 */
export async function relayRequests(deps: RelayDeps, stop: AbortSignal): Promise<void> {
  const { store, clock, patience, keys } = deps;
  const running = new Map<string, Relayed>();
  let purgeAt = clock.monotonic() + PURGE_MS;
  while (!stop.aborted) {
    const look = async () => {
      const requests = running.size < MOST_AT_ONCE ? await takeRequests(store.db, keys.publicKey) : [];
      for (const request of requests) begin(deps, request, running);
      if (running.size > 0) await endUnawaited(store, running);
      if (clock.monotonic() >= purgeAt) {
        purgeAt = clock.monotonic() + PURGE_MS;
        await purgeRequests(store.db);
      }
    };
    await patience.with(look, isOfDatabase);
    await clock.sleep(POLL_MS, stop).catch(() => undefined);
  }
  while (running.size > 0 && !deps.gracePeriodOver.aborted) {
    await endUnawaited(store, running).catch(() => undefined);
    const allDone = Promise.allSettled([...running.values()].map(({ done }) => done));
    await Promise.race([allDone, clock.sleep(POLL_MS, deps.gracePeriodOver).catch(() => undefined)]);
  }
}

/** A request that is worked on. */
interface Relayed {
  readonly request: NewRequest;
  readonly unawaited: AbortController;
  readonly done: Promise<void>;
}

function begin(deps: RelayDeps, request: NewRequest, running: Map<string, Relayed>): void {
  const { account, id } = request;
  const unawaited = new AbortController();
  const done = relay(deps, request, unawaited)
    .catch((error: unknown) =>
      deps.log.warn({ account, cause: messageOf(error) }, 'a request of another machine was not answered'),
    )
    .finally(() => running.delete(id));
  running.set(id, { request, unawaited, done });
}

/** A command that was ended has removed its request, as it would have closed its connection. */
async function endUnawaited(store: RelayDeps['store'], running: ReadonlyMap<string, Relayed>): Promise<void> {
  const all = [...running.values()];
  const awaited = await awaitedOf(
    store.db,
    all.map(({ request }) => request),
  );
  for (const { request, unawaited } of all) if (!awaited.has(request.id)) unawaited.abort();
}

async function relay(deps: RelayDeps, request: NewRequest, unawaited: AbortController): Promise<void> {
  const { holder, account, id, publicKey } = request;
  const seal = sealBetween(deps.keys, publicKey, [holder, account, id]);
  const envelope = await answerTo(deps, request, seal, unawaited);
  if (unawaited.signal.aborted) return;
  const answer = seal.close('answer', JSON.stringify(envelope));
  await written(deps, () => answerRequest(deps.store.db, request, answer));
}

/** Does what is asked. */
async function answerTo(
  { socketPath, store, clock }: RelayDeps,
  request: NewRequest,
  seal: Seal,
  unawaited: AbortController,
): Promise<Envelope> {
  try {
    const asked = JSON.parse(seal.open('input', request.input)) as OwnerRequest;
    const reply = await socketTransport(socketPath).send(asked, unawaited.signal);
    const { httpStatus, retryAfterSeconds, isLines } = reply;
    if (!isLines) return { httpStatus, retryAfterSeconds, body: await reply.text() };
    let [last, reportAt] = ['', clock.monotonic()];
    for await (const line of reply.lines()) {
      const { type } = JSON.parse(line) as { type: string };
      if (type !== 'progress') last = line;
      else if (clock.monotonic() >= reportAt) {
        reportAt = clock.monotonic() + PROGRESS_MS;
        await reportProgress(store.db, request, seal.close('progress', line)).catch(() => undefined);
      }
    }
    return { httpStatus, body: last };
  } catch (error) {
    if (error instanceof NoOwnerError) return writeEnvelope(NOT_OWNER_RESULT);
    if (!(error instanceof BrokenSealError)) return writeEnvelope({ kind: 'unknown', why: GONE });
    return writeEnvelope({ kind: 'invalid', message: error.message, httpStatus: 400 });
  }
}

/** Writes an answer; a database that does not take it now is waited for. */
async function written(
  { clock, gracePeriodOver }: { readonly clock: Clock; readonly gracePeriodOver: AbortSignal },
  write: () => Promise<unknown>,
): Promise<void> {
  const until = clock.monotonic() + WRITE_FOR_MS;
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isOfDatabase(error) || gracePeriodOver.aborted || clock.monotonic() >= until) throw error;
      await clock.sleep(WRITE_AGAIN_MS, gracePeriodOver).catch(() => undefined);
    }
  }
}
