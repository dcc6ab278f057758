import {
  decideChecked,
  decideRemembered,
  type LinkAnswer,
  type LinkDecision,
  type LinkSource,
  type TrackedLink,
} from '../../domain/clients/link.ts';
import { isPlainText } from '../../domain/text.ts';
import { UnusableIdError } from '../../exchange/ids.ts';
import type { Reply } from '../../exchange/reply.ts';
import { refusalReason } from '../../exchange/refusals.ts';
import type { Link } from '../../exchange/schemas.ts';
import { StoreError } from '../../store/errors.ts';
import { FIRST_CHECK, linksToCheck, readLink, saveLink, trackedLinkOf, type CheckKey } from '../../store/links.ts';
import { rememberStatus } from '../../store/accounts.ts';
import type { Transaction } from '../../store/port.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { forEachConcurrently } from '../pass/concurrency.ts';

type LinkDeps = Pick<FlowDeps, 'account' | 'store' | 'exchange' | 'clock' | 'log' | 'gracePeriodOver'>;

const PAGE = 200;
const LONGEST_REFERENCE = 500;
/** Status values that the interface document shows (§3). */
const DOCUMENTED_STATUSES: readonly string[] = ['NOT_VERIFIED'];
const WHEN_UNKNOWN =
  'nobody can tell whether the link was made. Ask with: order-sync client validate EMAIL. If that answers OK it was not ' +
  'made: create it again. If it answers LINK_ALREADY_EXISTS it was made, now or earlier: the address is not stored and ' +
  'the exchange has no look-up by it, so get the link id from the exchange and run: order-sync client follow LINK';

/**
 * Makes a link (§4.1) and remembers it. The e-mail address goes to the exchange and nowhere else. Throws
 * `UnusableIdError` before any request, and `StoreError`, which names the link, when it was made but cannot be remembered.
 */
export async function makeLink(
  deps: LinkDeps,
  { email, reference }: { email: string; reference: string | null },
  signal?: AbortSignal,
): Promise<Reply<Link>> {
  checkReference(reference);
  if (reference?.toLowerCase().includes(email.toLowerCase()) === true) {
    throw new UnusableIdError('the reference holds the e-mail address, which is not stored; give another one');
  }
  const answer = await deps.exchange.createLink(email, signal);
  if (answer.kind === 'unknown') return { ...answer, why: `${answer.why}; ${WHEN_UNKNOWN}` };
  if (answer.kind !== 'ok') return answer;
  const { linkId } = answer.value;
  const { store, log, gracePeriodOver } = deps;
  try {
    // Nothing else would ever tell this id again.
    const decision = await store.writer.writeUntilDurable(
      (tx) => remember(deps, tx, answer.value, reference, 'created'),
      gracePeriodOver,
      ({ message }) => log.error({ linkId, problem: message }, 'a link that was made cannot be remembered yet'),
    );
    tell(deps, decision);
  } catch (error) {
    log.error({ linkId }, 'a link that was made could not be remembered');
    if (!(error instanceof StoreError)) throw error;
    const message = `the link ${JSON.stringify(linkId)} was made but cannot be remembered: ${error.message}; then run: order-sync client follow ${linkId}`;
    throw new StoreError(error.problem, message, { cause: error });
  }
  return answer;
}

/** Asks for a link (§4.3) and remembers it when it is found. Throws `UnusableIdError` before any request. */
export async function adoptLink(
  deps: LinkDeps,
  { linkId, reference }: { linkId: string; reference: string | null },
  signal?: AbortSignal,
): Promise<Reply<Link>> {
  checkReference(reference);
  const answer = await deps.exchange.showLink(linkId, signal);
  if (answer.kind !== 'ok') return answer;
  if (answer.value.linkId !== linkId) return { kind: 'unknown', why: 'the answer is about another link' };
  tell(deps, await deps.store.writer.write((tx) => remember(deps, tx, answer.value, reference, 'followed')));
  return answer;
}

/**
 * Looks at every remembered link whose status is not final, and records what changed. Each link that was last checked
 * before the pass began is looked at once, those that wait longest first; the pass ends when none is left, when the
 * exchange cannot serve, or when `signal` aborts.
 */
export async function linksPass(deps: FlowDeps, signal: AbortSignal): Promise<void> {
  // Orders are more urgent: most turns of the lane are left to them.
  const concurrency = Math.ceil(deps.concurrency / 4);
  await forEachConcurrently(uncheckedLinks(deps, signal), concurrency, (key) => check(deps, key, signal));
}

async function* uncheckedLinks(
  { account, store, exchange, clock, links: { finalStatuses } }: FlowDeps,
  signal: AbortSignal,
): AsyncGenerator<CheckKey> {
  const before = clock.now();
  let from = FIRST_CHECK;
  for (;;) {
    const page = await linksToCheck(store.db, { account, finalStatuses, before, from, limit: PAGE });
    for (const key of page) {
      if (signal.aborted || exchange.breaker('lookup').isOpen) return;
      yield key;
      from = key;
    }
    if (page.length < PAGE) return;
  }
}

async function check(deps: FlowDeps, key: CheckKey, signal: AbortSignal): Promise<void> {
  const { exchange, log } = deps;
  const { linkId } = key;
  const reply = await exchange.lookUpLink(linkId, signal).catch(asNotSent);
  if (reply === undefined) return;
  const evidence = evidenceOf(reply, linkId);
  if (typeof evidence === 'string') {
    log.warn({ linkId, why: evidence }, 'a look at a link brought no answer, it will be tried again');
    return;
  }
  await recordCheck(deps, key, evidence);
}

/** The exchange may have given an id that cannot be put into a request. */
function asNotSent(error: unknown): Reply<Link> {
  if (!(error instanceof UnusableIdError)) throw error;
  return { kind: 'not-sent', why: error.message };
}

/** Only the link asked for, and the documented 404, are evidence; of anything else, why it is none. */
function evidenceOf(reply: Reply<Link>, linkId: string): LinkAnswer | string {
  switch (reply.kind) {
    case 'ok':
      if (reply.value.linkId !== linkId) return 'the answer is about another link';
      return { kind: 'found', status: reply.value.status };
    case 'refused':
      return refusalReason(reply) === 'not-found' ? { kind: 'not-found' } : `HTTP ${reply.httpStatus}`;
    case 'not-sent':
    case 'unknown':
      return reply.why;
    case 'rate-limited':
    case 'key-refused':
      return reply.kind;
  }
}

async function recordCheck(deps: FlowDeps, key: CheckKey, answer: LinkAnswer): Promise<void> {
  const { account, store, clock } = deps;
  const recorded = await store.writer.write(async (tx) => {
    const row = await readLink(tx, account, key.linkId);
    // What somebody else was told meanwhile may be newer than this answer.
    if (row === undefined || row.last_checked_at !== key.lastCheckedAt) return undefined;
    const before = trackedLinkOf(row);
    return await save(tx, before, decideChecked(before, answer, clock.now()), clock.now());
  });
  if (recorded !== undefined) tell(deps, recorded);
}

/** What was written, and the status values that were never seen before. */
interface Saved extends LinkDecision {
  readonly unseen: readonly string[];
}

async function remember(
  { account, clock }: LinkDeps,
  tx: Transaction,
  { linkId, status }: Link,
  reference: string | null,
  source: LinkSource,
): Promise<Saved> {
  const row = await readLink(tx, account, linkId);
  const known = row === undefined ? undefined : trackedLinkOf(row);
  const now = clock.now();
  return await save(tx, known, decideRemembered(known, { account, linkId, status, reference, source }, now), now);
}

async function save(
  tx: Transaction,
  before: TrackedLink | undefined,
  decision: LinkDecision,
  now: Date,
): Promise<Saved> {
  const { account, status } = decision.link;
  await saveLink(tx, before, decision, now);
  const isChanged = decision.events.some(({ field }) => field === 'status');
  const seen = { account, field: 'link.status', value: status, firstSeenAt: now.toISOString() };
  return { ...decision, unseen: isChanged && (await rememberStatus(tx, seen)) ? [status] : [] };
}

function tell({ log }: LinkDeps, { link: { linkId }, events, unseen }: Saved): void {
  for (const value of unseen) {
    if (!DOCUMENTED_STATUSES.includes(value)) {
      log.warn({ field: 'link.status', value }, 'a status that was not seen before');
    }
  }
  for (const { field, oldValue, newValue } of events) {
    if (field === 'status') log.info({ linkId, oldValue, newValue }, 'link changed');
    else if (newValue === null) log.info({ linkId, since: oldValue }, 'the exchange finds a link again');
    else log.warn({ linkId }, 'the exchange does not find a link any more');
  }
}

/** Text that can be stored and shown. Throws `UnusableIdError`. */
function checkReference(reference: string | null): void {
  if (reference === null) return;
  if (isPlainText(reference) && reference.trim() !== '' && reference.length <= LONGEST_REFERENCE) return;
  throw new UnusableIdError(
    `the reference is empty, holds control characters or has more than ${LONGEST_REFERENCE} characters; give another one`,
  );
}
