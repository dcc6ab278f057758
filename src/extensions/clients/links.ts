import { endpointsOf } from './endpoints/endpoints.ts';
import type { OperationDeps } from '../../accounts/account.ts';
import { REFUSALS } from '../../accounts/rules/restraints.ts';
import { accountWords } from '../../accounts/rules/name.ts';
import { decideChecked, decideRemembered } from './link.ts';
import type { AnsweredLink, LinkAnswer, LinkDecision, LinkRow } from './link.ts';
import { after } from '../../base/instant.ts';
import { isPlainText, LONGEST_PLAIN_TEXT, messageOf } from '../../base/text.ts';
import type { Answer } from '../../orders/rules/record.ts';
import { UnusableIdError, idsIn } from '../../exchange/ids.ts';
import type { Reply } from '../../exchange/reply.ts';
import type { Link } from './endpoints/schemas.ts';
import { OwnedError, StoreError } from '../../store/errors.ts';
import { keepAnswer } from '../../store/tables/order-records.ts';
import type { SweepMaker, FlowDeps } from '../../orders/pass/deps.ts';
import * as table from './tables/links.ts';
import type { CheckKey } from './tables/links.ts';
import { rememberStatuses } from '../../store/tables/accounts.ts';
import { pagesAfter } from '../../store/pages.ts';
import type { Transaction } from '../../store/port.ts';
import { clientsSettings } from './settings.ts';
import type { Failure } from '../../orders/pass/process-events.ts';
import { forEachConcurrently } from '../../orders/pass/run.ts';
import { refusalReason } from '../api/asking/refusal-reason.ts';

type LinkDeps = Pick<
  OperationDeps,
  'account' | 'store' | 'exchange' | 'clock' | 'log' | 'gracePeriodOver' | 'observers'
>;
/** A sweep needs the whole client of the exchange; `FlowDeps` has only the part for orders. */
type PassDeps = FlowDeps & Pick<OperationDeps, 'exchange'>;

const PAGE = 200;
const DOCUMENTED_STATUSES: readonly string[] = ['NOT_VERIFIED'];
export const whenUnknown = (account: string) =>
  `it is not known whether the link was created. Run: order-sync exchange client validate EMAIL${accountWords(account)}. If the answer is OK, ` +
  'the link was not created: create it again. If the answer is LINK_ALREADY_EXISTS, the link was created now or earlier: ask the exchange ' +
  `for the link id and run: order-sync exchange client follow LINK${accountWords(account)}`;

/**
 * Creates a link (§4.1) and stores it. `keep` may write in the same transaction. Only the exchange gets the e-mail
 * address. Throws `UnusableIdError` before any request, and `StoreError` with the link id if the store fails.
 */
export async function makeLink(
  deps: LinkDeps,
  { email, reference }: { email: string; reference: string | null },
  signal?: AbortSignal,
  keep: (tx: Transaction, link: Link) => Promise<void> = async () => {},
): Promise<Reply<Link>> {
  checkReference(reference);
  if (reference?.toLowerCase().includes(email.toLowerCase()) === true) {
    const why = 'the reference contains the e-mail address, which must not be stored';
    throw new UnusableIdError(`${why}; use another reference`);
  }
  let unread: Answer | undefined;
  const answer = await endpointsOf(deps.exchange).createLink(email, signal, (received) => (unread = received));
  if (unread !== undefined) {
    const seen = await keepUnread(deps, unread, reference);
    return { kind: 'unknown', why: `the answer cannot be read; ${seen}; ${whenUnknown(deps.account)}` };
  }
  if (answer.kind === 'unknown') return { ...answer, why: `${answer.why}; ${whenUnknown(deps.account)}` };
  if (answer.kind !== 'ok') return answer;
  const { linkId, status } = answer.value;
  try {
    // The write is retried, because the exchange names the id only once.
    const late = { message: 'a created link cannot be stored yet', subject: linkId, facts: { linkId } };
    const saved = await writeDurably(deps, late, async (tx) => {
      await keep(tx, answer.value);
      return await remember(deps, tx, { link_id: linkId, status, reference, source: 'created' });
    });
    logSaved(deps, saved);
  } catch (thrown) {
    deps.log.error({ linkId }, 'a created link could not be stored');
    const error = thrown instanceof OwnedError ? new StoreError('busy', thrown.message, { cause: thrown }) : thrown;
    if (!(error instanceof StoreError)) throw error;
    const message = `the link ${JSON.stringify(linkId)} was created but cannot be stored: ${error.message}; once links can be stored again, run: order-sync exchange client follow ${linkId}${accountWords(deps.account)}`;
    throw new StoreError(error.problem, message, { cause: error });
  }
  return answer;
}

/** Stores an unreadable answer to `createLink`. Returns a text that names the ids in the answer. */
async function keepUnread(deps: LinkDeps, answer: Answer, reference: string | null): Promise<string> {
  const { account, clock, log } = deps;
  const ids = idsIn(answer.body, ['linkId', 'id']);
  log.error({ ids }, 'the answer to the creation of a link cannot be read');
  const kept = { account, operation: 'createLink', subject: reference, receivedAt: clock.now().toISOString() } as const;
  const seen = ids.length === 0 ? 'it contains no id' : `it contains the id ${ids.join(' or ')}`;
  try {
    const late = { message: 'an answer to the creation of a link cannot be stored yet' };
    await writeDurably(deps, late, (tx) => keepAnswer(tx, { ...answer, ...kept }));
    return `${seen}, and it is kept`;
  } catch (error) {
    log.error({ cause: messageOf(error) }, 'an answer to the creation of a link could not be stored');
    return seen;
  }
}

/** Repeats a write while the database takes no writes, until the grace period ends. Emits `late` before each repeat. */
function writeDurably<Result>(
  { store, gracePeriodOver, observers }: LinkDeps,
  late: Pick<Failure, 'message' | 'subject' | 'facts'>,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return store.writer.writeUntilDurable(work, gracePeriodOver, ({ message: cause }) =>
    observers.tell({ kind: 'failed', failure: { level: 'error', kind: 'database', cause, ...late } }),
  );
}

/** Looks up a link (§4.3), and stores it if it is found. Throws `UnusableIdError` before any request. */
export async function adoptLink(
  deps: LinkDeps,
  { linkId, reference = null }: { linkId: string; reference?: string | null | undefined },
  signal?: AbortSignal,
): Promise<Reply<Link>> {
  checkReference(reference);
  const answer = await endpointsOf(deps.exchange).showLink(linkId, signal);
  if (answer.kind !== 'ok') return answer;
  if (answer.value.linkId !== linkId) return { kind: 'unknown', why: 'the answer is about another link' };
  const answered = { link_id: linkId, status: answer.value.status, reference, source: 'followed' } as const;
  logSaved(deps, await deps.store.writer.write((tx) => remember(deps, tx, answered)));
  return answer;
}

export const linksSweep: SweepMaker = (config) => {
  const { cron } = clientsSettings.of(config).links;
  return {
    name: 'links',
    cron,
    isAtStart: cron !== undefined,
    isAsking: true,
    accounts: table.accountsWithLinks,
    run: linksPass,
  };
};

/**
 * Looks up each link that has no final status and was last checked before `since`, the oldest check first. Ends early
 * if the circuit breaker of look-ups opens or `signal` aborts.
 */
export async function linksPass(deps: PassDeps, signal: AbortSignal, since: Date = deps.clock.now()): Promise<void> {
  await correctAhead(deps, since);
  // Orders are more urgent, so links use a quarter of the concurrency.
  const concurrency = Math.ceil(deps.settings.concurrency / 4);
  await forEachConcurrently(uncheckedLinks(deps, signal, since), concurrency, (key) => check(deps, key, signal));
}

/** Makes links due now if their last checks are in the future. A wrong clock wrote the times of these checks. */
async function correctAhead({ account, store, clock, log }: FlowDeps, before: Date): Promise<void> {
  if (!(await table.areChecksAhead(store.db, account, clock.now()))) return;
  let links = 0;
  for (let corrected = PAGE; corrected >= PAGE; links += corrected) {
    const correction = { account, latest: clock.now(), to: after(before, -1), limit: PAGE };
    corrected = await store.writer.write((tx) => table.correctCheckTimes(tx, correction));
  }
  log.warn({ links }, 'checks of links were written under another clock; these links are checked now');
}

async function* uncheckedLinks({ account, config, store, exchange }: FlowDeps, signal: AbortSignal, before: Date) {
  const { finalStatuses } = clientsSettings.of(config).links;
  const unchecked = (from = table.FIRST_CHECK) =>
    table.linksToCheck(store.db, { account, finalStatuses, before, from, limit: PAGE });
  for await (const page of pagesAfter(PAGE, unchecked)) {
    for (const key of page) {
      if (signal.aborted || exchange.breaker('lookup').isOpen) return;
      yield key;
    }
  }
}

async function check(deps: PassDeps, key: CheckKey, signal: AbortSignal): Promise<void> {
  const { link_id: linkId } = key;
  const reply = await endpointsOf(deps.exchange)
    .lookUpLink(linkId, signal)
    .catch((error: unknown) => {
      // The id comes from the exchange, so a request may be unable to carry it.
      if (error instanceof UnusableIdError) return error;
      throw error;
    });
  if (reply === undefined) return;
  const evidence = evidenceOf(reply, linkId);
  if (!('cause' in evidence)) return await recordCheck(deps, key, evidence);
  const message = 'the check of a link failed and will be repeated';
  deps.observers.tell({ kind: 'failed', failure: { message, ...evidence, facts: { linkId } } });
}

/** Returns evidence if the reply is the link or the 404 for an unknown link (§7), else the facts of a failure. */
function evidenceOf(reply: Reply<Link> | UnusableIdError, subject: string): LinkAnswer | Omit<Failure, 'message'> {
  if (reply instanceof UnusableIdError) return { cause: reply.message, subject };
  switch (reply.kind) {
    case 'ok':
      if (reply.value.linkId !== subject) return { cause: 'the answer is about another link', subject };
      return { kind: 'found', status: reply.value.status };
    case 'refused':
      return refusalReason(reply) === 'not-found'
        ? { kind: 'not-found' }
        : { cause: `HTTP ${reply.httpStatus}`, subject };
    case 'not-sent':
    case 'unknown':
      return { cause: reply.why, kind: 'exchange' };
    case 'rate-limited':
    case 'key-refused':
      return { cause: REFUSALS[reply.kind], kind: reply.kind };
  }
}

async function recordCheck(deps: PassDeps, key: CheckKey, answer: LinkAnswer): Promise<void> {
  const { account, store, clock } = deps;
  const recorded = await store.writer.write(async (tx) => {
    const known = await table.readLink(tx, account, key.link_id);
    // Since the request, another look-up may have recorded a newer answer.
    if (known?.last_checked_at !== key.last_checked_at) return undefined;
    return await save(tx, known, decideChecked(known, answer, clock.now()), clock.now());
  });
  if (recorded !== undefined) logSaved(deps, recorded);
}

type Saved = LinkDecision & { readonly isUnseen: boolean };

async function remember({ account, clock }: LinkDeps, tx: Transaction, answered: Omit<AnsweredLink, 'account'>) {
  const known = await table.readLink(tx, account, answered.link_id);
  const now = clock.now();
  return await save(tx, known, decideRemembered(known, { account, ...answered }, now), now);
}

async function save(tx: Transaction, before: LinkRow | undefined, decision: LinkDecision, now: Date): Promise<Saved> {
  const { account, status } = decision.link;
  await table.saveLink(tx, before, decision, now);
  const isChanged = decision.events.some(({ field }) => field === 'status');
  const seen = { account, field: 'link.status', value: status, first_seen_at: now.toISOString() };
  return { ...decision, isUnseen: isChanged && (await rememberStatuses(tx, [seen])).length > 0 };
}

function logSaved({ log, observers }: LinkDeps, { link: { link_id: linkId, status }, events, isUnseen }: Saved): void {
  if (isUnseen && !DOCUMENTED_STATUSES.includes(status)) {
    observers.tell({ kind: 'status.new', field: 'link.status', value: status });
  }
  for (const { field, oldValue, newValue } of events) {
    if (field === 'status') log.info({ linkId, oldValue, newValue }, 'the status of a link changed');
    else if (newValue === null) log.info({ linkId, since: oldValue }, 'the exchange finds a link again');
    else log.warn({ linkId }, 'the exchange no longer finds a link');
  }
}

function checkReference(reference: string | null): void {
  if (reference === null || (isPlainText(reference) && reference.trim() !== '')) return;
  const why = `is empty, contains control characters or has more than ${LONGEST_PLAIN_TEXT} characters`;
  throw new UnusableIdError(`the reference ${why}; use another reference`);
}
