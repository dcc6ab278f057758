import { FINDING_CLASSES } from '../../findings/rules/classes.ts';
import type { Finding } from '../../findings/rules/finding.ts';
import type { Logger } from 'pino';
import type { CreateOutcome } from '../rules/create.ts';
import { lateMsOf, type Tracking, type OrderEvent } from '../rules/tracking.ts';
import type { FollowSettings, LookupDecision } from '../rules/lookup.ts';
import type { SeenStatusesTable } from '../../store/schema.ts';
import type { OrderLookup } from '../../exchange/client.ts';
import type { Health } from '../../exchange/transport/breaker.ts';
import { REFUSALS } from '../../accounts/rules/restraints.ts';
import { preOrderIdsIn } from '../../exchange/ids.ts';
import type { Failure, ProcessEvent } from './process-events.ts';

export type Counters = ReturnType<typeof newCounters>;

export function newCounters() {
  return {
    sent: 0,
    accepted: 0,
    rejected: 0,
    invalid: 0,
    unknown: 0,
    held: 0,
    disputed: 0,
    lookedUp: 0,
    changed: 0,
    final: 0,
    failed: 0,
    findings: 0,
  };
}

export function countFindings(counters: Counters, findings: readonly Finding[]): readonly Finding[] {
  const news = findings.filter((one) => FINDING_CLASSES[one.class].severity !== 'info');
  counters.findings += news.length;
  return news;
}

/** Status values that the interface document shows (§3). */
const DOCUMENTED_STATUSES: readonly string[] = ['REQUEST', 'NEW'];

/** The counters and the listeners of an account. No decision depends on a counter or a listener. */
export interface Observers {
  readonly counters: Counters;
  readonly tell: (event: ProcessEvent) => void;
}

interface Telling {
  readonly log: Logger;
  readonly observers: Observers;
}

/** The outcome of a create, and its order before and after. `isLate`: the order had changed since it was sent. */
export interface RecordedCreate {
  readonly outcome: CreateOutcome;
  readonly before: Tracking;
  readonly after: Tracking;
  readonly isLate: boolean;
  readonly findings: readonly Finding[];
}

export interface RecordedLookup {
  readonly before: Tracking;
  readonly decision: LookupDecision;
  readonly findings: readonly Finding[];
  readonly unseen: readonly Pick<SeenStatusesTable, 'field' | 'value'>[];
}

export function countFailureOf(observers: Observers, externalOrderId: string, message: string, cause: string): void {
  const about = { subject: externalOrderId, facts: { externalOrderId } };
  countFailure(observers, { level: 'error', message, cause, ...about });
}

function countFailure({ counters, tell }: Observers, failure: Failure): void {
  counters.failed += 1;
  tell({ kind: 'failed', failure });
}

export function tellCreate({ log, observers }: Telling, { outcome, before, after, isLate, findings }: RecordedCreate) {
  const { counters, tell } = observers;
  const { externalOrderId, state, stateReason: cause } = after;
  const preOrderId = outcome.kind === 'accepted' ? outcome.preOrder.id : undefined;
  if (isLate) {
    const fields = { externalOrderId, stateBefore: before.state, state, outcome: outcome.kind, preOrderId };
    log.error(fields, 'an answer to a create came after the state of its order had changed');
  }
  if (outcome.kind !== 'not-sent') counters.sent += 1;
  countFindings(counters, findings);
  // A late outcome without a pre-order decided nothing, so the order is neither counted nor logged below.
  if (isLate && outcome.kind !== 'accepted') {
    counters.failed += 1;
    return;
  }
  switch (outcome.kind) {
    case 'accepted':
      counters.accepted += 1;
      log.info({ externalOrderId, preOrderId: outcome.preOrder.id }, 'pre-order created');
      if (outcome.differences.length > 0) {
        const differences = outcome.differences.map(({ actual }) => actual);
        log.warn({ externalOrderId, differences }, 'the pre-order differs from the order');
      }
      return;
    case 'rejected':
      // If a second create is refused, the outcome of the first create is still unknown.
      counters[state === 'unknown' ? 'unknown' : 'rejected'] += 1;
      log.warn({ externalOrderId, cause }, 'order was rejected');
      return;
    case 'unknown': {
      counters.unknown += 1;
      const ids = outcome.answer && preOrderIdsIn(outcome.answer.body);
      log.warn({ externalOrderId, cause, ids }, 'the outcome of a create is unknown, it will be looked up');
      tell({ kind: 'exchange.failed', cause: outcome.why });
      return;
    }
    default: {
      const { kind } = outcome;
      const message = 'order was not taken, it will be sent again';
      const failure = { message, facts: { externalOrderId } };
      if (kind === 'not-sent') return countFailure(observers, { ...failure, kind: 'exchange', cause: outcome.why });
      const why = kind === 'forbidden' ? outcome.reason : REFUSALS[kind];
      countFailure(observers, { ...failure, kind, cause: why });
    }
  }
}

export function tellLookup(
  { log, observers, settings }: Telling & { readonly settings: FollowSettings },
  { answer, health }: Pick<OrderLookup, 'answer' | 'health'>,
  { before: tracked, decision, findings, unseen }: RecordedLookup,
): void {
  const { counters, tell } = observers;
  const { openStatuses, finalStatuses, succeededStatuses } = settings;
  const known = [...DOCUMENTED_STATUSES, ...openStatuses, ...finalStatuses, ...succeededStatuses];
  for (const { field, value } of unseen) {
    if (!known.includes(value)) tell({ kind: 'status.new', field, value });
  }
  const { externalOrderId, state, stateReason: cause } = decision.tracking;
  const news = countFindings(counters, findings).map((one) => one.class);
  if (news.length > 0) log.warn({ externalOrderId, findings: news }, 'an order has new findings');
  if (answer.kind === 'unanswered') {
    if (answer.isUnreadable) tell({ kind: 'record.unreadable', externalOrderId });
    return countFailure(observers, whyUnanswered(externalOrderId, answer.why, health));
  }
  counters.lookedUp += 1;
  const changes = decision.events.filter(({ field }) => field === 'state' || field.endsWith('.status'));
  if (changes.length > 0) {
    counters.changed += 1;
    const lateMs = lateMsOf(tracked, decision);
    if (lateMs !== undefined) tell({ kind: 'change.seen', lateMs });
    log.info({ externalOrderId, ...Object.fromEntries(changes.map(shownChange)) }, 'order changed');
  }
  const entered = state === tracked.state ? undefined : state;
  if (entered === 'final' || entered === 'disputed' || entered === 'held') counters[entered] += 1;
  if (entered === 'disputed') log.warn({ externalOrderId, cause }, 'order is disputed, do not act on it');
  if (entered === 'held') log.warn({ externalOrderId, cause }, 'order is held, a person must decide');
  if (answer.kind === 'found') tell({ kind: 'record.read' });
}

function whyUnanswered(externalOrderId: string, why: string, health: Health): Failure {
  const failure = { message: 'a look-up brought no answer, it will be tried again', facts: { externalOrderId } };
  if (health === 'answered') return { ...failure, cause: why, subject: externalOrderId };
  if (why === 'rate-limited' || why === 'key-refused') return { ...failure, cause: REFUSALS[why], kind: why };
  return { ...failure, cause: why, kind: 'exchange' };
}

function shownChange({ field, oldValue, newValue }: OrderEvent): [string, string | null] {
  return [field, oldValue === null ? newValue : `${oldValue} → ${newValue}`];
}
