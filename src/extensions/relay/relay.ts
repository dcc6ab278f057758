import type { FlowDeps } from '../../orders/pass/deps.ts';
import type { Patience } from '../../orders/pass/run.ts';
import { messageOf } from '../../base/text.ts';
import { isOfDatabase } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';
import { invalid, writeEnvelope, type Envelope } from '../api/envelope.ts';
import { NOT_OWNER_RESULT } from '../api/operation.ts';
import { NoOwnerError, socketTransport, type OwnerRequest } from '../api/asking/transport.ts';
import { BrokenSealError, sealBetween, type KeyPair, type Seal } from './table-transport.ts';
import {
  answerRequest,
  awaitedOf,
  purgeRequests,
  reportProgress,
  takeRequests,
  type NewRequest,
} from './tables/account-requests.ts';

/** How often a process looks for requests. Each look is one statement, whatever the number of accounts. */
const POLL_MS = 500;
/** Fewer than the control socket takes: there is room for those on this machine. */
const MOST_AT_ONCE = 128;
const PROGRESS_MS = 500;
const PURGE_MS = 60_000;
/** An answer that the database does not take is written again, for so long. */
const WRITE_FOR_MS = 30_000;
const WRITE_AGAIN_MS = 500;
const GONE = 'the daemon went away before it answered; it is not known whether it was done';

interface RelayDeps extends Pick<FlowDeps, 'clock' | 'log' | 'gracePeriodOver'> {
  readonly store: Pick<Store, 'db'>;
  readonly patience: Patience;
  readonly keys: KeyPair;
  readonly socketPath: string;
}

/** Passes requests of commands on other machines to the local control socket until `stop` aborts; then finishes running ones. */
export async function relayRequests(deps: RelayDeps, stop: AbortSignal): Promise<void> {
  const { store, clock, patience, keys } = deps;
  const running = new Map<string, Relayed>();
  let purgeAt = clock.monotonic() + PURGE_MS;
  while (!stop.aborted) {
    const look = async () => {
      const requests = running.size < MOST_AT_ONCE ? await takeRequests(store.db, keys.publicKey) : [];
      for (const request of requests) {
        const relayed = relay(deps, request);
        running.set(request.id, relayed);
        void relayed.done.finally(() => running.delete(request.id));
      }
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

type Relayed = ReturnType<typeof relay>;

function relay(deps: RelayDeps, request: NewRequest) {
  const unawaited = new AbortController();
  const done = answer(deps, request, unawaited).catch((error: unknown) => {
    const facts = { account: request.account, cause: messageOf(error) };
    deps.log.warn(facts, 'a request of another machine was not answered');
  });
  return { request, unawaited, done };
}

/** A command that was ended has removed its request, as it would have closed its connection. */
async function endUnawaited(store: RelayDeps['store'], running: ReadonlyMap<string, Relayed>): Promise<void> {
  const all = [...running.values()];
  const requests = all.map(({ request }) => request);
  const awaited = await awaitedOf(store.db, requests);
  for (const { request, unawaited } of all) if (!awaited.has(request.id)) unawaited.abort();
}

async function answer(deps: RelayDeps, request: NewRequest, unawaited: AbortController): Promise<void> {
  const { holder, account, id, publicKey } = request;
  const seal = sealBetween(deps.keys, publicKey, [holder, account, id]);
  const envelope = await answerTo(deps, request, seal, unawaited);
  if (unawaited.signal.aborted) return;
  const sealed = seal.close('answer', JSON.stringify(envelope));
  await written(deps, () => answerRequest(deps.store.db, request, sealed));
}

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
    return writeEnvelope(invalid(error.message));
  }
}

async function written({ clock, gracePeriodOver }: RelayDeps, write: () => Promise<unknown>): Promise<void> {
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
