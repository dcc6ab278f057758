import type { Assumption } from '../../../orders/rules/create.ts';
import { RESEND_NOT_BEFORE_MS } from '../../../orders/rules/absent.ts';
import { CONTRADICTION_KINDS, type Contradiction } from '../../../orders/rules/contradictions.ts';
import { disputesOf, settledIn, type Settled } from '../../../orders/rules/follow.ts';
import { isFinalRecord, outcomeOf, type FollowSettings } from '../../../orders/rules/lookup.ts';
import type { RecordView } from '../../../orders/rules/record.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import { nextLookupAt, plannedGapMs } from '../../../orders/rules/schedule.ts';
import { after } from '../../../base/instant.ts';
import { quote } from '../../../base/text.ts';
import { move, type Decision, type Tracking } from '../../../orders/rules/tracking.ts';

/** A person's decision about an order. `preOrderId` is the id of the pre-order at the exchange (§2.6). */
export type Judgement =
  | { readonly kind: 'exists'; readonly preOrderId: string }
  | { readonly kind: 'not-created'; readonly mayDuplicate?: boolean }
  | { readonly kind: 'ours' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'retry'; readonly mayDuplicate: boolean }
  | { readonly kind: 'cancel' };

export type OperatorAction = Readonly<{ judgement: Judgement; actor: string; reason: string }>;

type OperatorDecision =
  | { readonly ok: true; readonly moves: readonly Decision[]; readonly to: OrderState }
  | { readonly ok: false; readonly why: string };

type NewestRecord = Readonly<{ record: RecordView; contradictions: readonly Contradiction[] }>;

export interface DecisionEvidence {
  /** The id of an accepted order that a look-up did not find. It shows that absence proves nothing. */
  readonly acceptedAndAbsent?: string | undefined;
  readonly newest?: NewestRecord | undefined;
  /** After a fail-over: why the order may have been sent without a record, and the command that decides. */
  readonly doubt?: string | undefined;
}

const SENT_AGAIN =
  'it waits to be sent again, and the exchange may have taken it before, so a person can decide only after the next request; ' +
  'a pause of the account keeps it from being sent';
const ALL_THE_SAME = '; --i-know-it-may-duplicate sends it all the same';

type Targets = Readonly<Partial<Record<OrderState, OrderState>>>;

const TARGETS: Readonly<Record<Judgement['kind'], Targets>> = {
  exists: { unknown: 'accepted', held: 'accepted' },
  'not-created': { unknown: 'pending', held: 'pending' },
  // The newest record decides whether the order is open or final.
  ours: { disputed: 'open' },
  abandoned: { unknown: 'abandoned', held: 'abandoned', accepted: 'abandoned', disputed: 'abandoned' },
  retry: { unknown: 'pending', held: 'pending', rejected: 'pending', invalid: 'pending' },
  cancel: { pending: 'cancelled' },
};

const SITUATIONS: Readonly<Record<OrderState, string>> = {
  pending: 'is pending: it is sent without a decision when it is due',
  sending: 'is being sent: its outcome is known within seconds',
  unknown: 'is unknown: the exchange may have taken it, and look-ups continue',
  held: 'is held: the exchange may have taken it',
  accepted: 'is accepted: the exchange has its pre-order',
  open: 'is open: its order exists at the exchange and is followed until it is final',
  disputed: 'is disputed: the order that the exchange has for its id contradicts it, and is followed',
  final: 'is final',
  rejected: 'was rejected by the exchange',
  invalid: 'is invalid and was not sent: correct the row, or delete it',
  cancelled: 'was cancelled: insert it again under another id',
  abandoned: 'was abandoned: insert it again under another id',
};

export function statesFor(kind: Judgement['kind']): readonly OrderState[] {
  return Object.keys(TARGETS[kind]) as OrderState[];
}

export function decisionsFor(state: OrderState): readonly Judgement['kind'][] {
  const kinds = Object.keys(TARGETS) as Judgement['kind'][];
  return kinds.filter((kind) => statesFor(kind).includes(state));
}

export function commandsFor(state: OrderState): readonly string[] {
  return decisionsFor(state).map((kind) =>
    kind === 'retry' || kind === 'cancel' ? `orders ${kind}` : `orders resolve --as ${kind}`,
  );
}

export function decideByOperator(
  tracking: Tracking,
  action: OperatorAction,
  now: Date,
  settings: FollowSettings,
  evidence: DecisionEvidence = {},
): OperatorDecision {
  const { judgement } = action;
  const target = TARGETS[judgement.kind][tracking.state];
  if (tracking.state === 'pending' && tracking.resends > 0) return { ok: false, why: SENT_AGAIN };
  if (target === undefined) return { ok: false, why: notAllowed(tracking.state) };
  const why = tooDangerous(tracking, judgement, now, evidence);
  if (why !== undefined) return { ok: false, why };
  const how = { source: 'operator', reason: action.reason, actor: action.actor } as const;
  if (judgement.kind === 'ours') {
    const { newest } = evidence;
    if (newest === undefined) return { ok: false, why: 'its order record cannot be read; run sync and try again' };
    const ours = decideOurs(tracking, newest, how, now, settings);
    return { ok: true, moves: [ours], to: ours.tracking.state };
  }
  const held = tracking.state === 'unknown' ? [move(tracking, 'held', how)] : [];
  const from = held[0]?.tracking ?? tracking;
  const moved = move(from, target, how, changesOf(tracking, judgement, now, settings));
  return { ok: true, moves: [...held, moved], to: target };
}

function notAllowed(state: OrderState): string {
  const commands = commandsFor(state);
  const instead = commands.length === 0 ? 'a person has nothing to decide' : `allowed: ${commands.join(', ')}`;
  return `it ${SITUATIONS[state]}; ${instead}`;
}

function tooDangerous(tracking: Tracking, judgement: Judgement, now: Date, evidence: DecisionEvidence) {
  if (judgement.kind !== 'not-created' && judgement.kind !== 'retry') return undefined;
  if (judgement.mayDuplicate === true) return undefined;
  const obstacle = obstacleTo(judgement.kind, tracking, now, evidence);
  return obstacle && `${obstacle.why}${evidence.doubt === undefined ? ALL_THE_SAME : ''}`;
}

/** `isTemporary` is true if the obstacle ends with time, or when a person decides about the fail-over. */
type Obstacle = Readonly<{ why: string; isTemporary: boolean }>;

type Sent = Pick<Tracking, 'externalOrderId' | 'state' | 'sentAt' | 'absentAt'>;

/** Returns why another create may make a second pre-order. A create has no idempotency key (§4.9). */
export function obstacleTo(kind: Judgement['kind'], sent: Sent, now: Date, evidence: DecisionEvidence) {
  const { doubt, acceptedAndAbsent } = evidence;
  if (kind !== 'not-created' && kind !== 'retry') return undefined;
  // After a fail-over neither a look-up nor the row proves that the order was not sent.
  if (doubt !== undefined) return { why: doubt, isTemporary: true };
  if (kind === 'retry') {
    const why =
      'it is not known whether the exchange took it, so sending it again may make a second pre-order; ask the exchange and use orders resolve';
    return mayBeTaken(sent) ? { why, isTemporary: false } : undefined;
  }
  const notYet = notKnowable(sent, now);
  if (acceptedAndAbsent === undefined || notYet?.isTemporary === true) return notYet;
  const [other, own] = [quote(acceptedAndAbsent), quote(sent.externalOrderId)];
  const why = `the exchange accepted the pre-order of ${other} and still finds no order for ${other}, so a look-up that finds no order proves nothing; ask the exchange whether it has a pre-order of ${own}`;
  return { why, isTemporary: false };
}

/** Returns undefined if nothing was sent, or if documented absence came when the create could no longer arrive. */
function notKnowable({ sentAt, absentAt }: Sent, now: Date): Obstacle | undefined {
  if (sentAt === null) return undefined;
  const knowableAt = after(sentAt, RESEND_NOT_BEFORE_MS);
  const from = knowableAt.toISOString();
  if (now < knowableAt) {
    const why = `before ${from} the order cannot count as not created: it was sent at ${sentAt.toISOString()} and may still arrive`;
    return { why, isTemporary: true };
  }
  if (absentAt !== null && absentAt >= knowableAt) return undefined;
  const why =
    `no look-up since ${from} brought the documented answer that there is no order; run order-sync sync first; if ` +
    'that does not help, name in exchange.absence what the exchange answers';
  return { why, isTemporary: false };
}

function mayBeTaken({ state }: Pick<Tracking, 'state'>): boolean {
  return state === 'unknown' || state === 'held';
}

function changesOf(
  tracking: Tracking,
  judgement: Exclude<Judgement, { kind: 'ours' }>,
  now: Date,
  settings: FollowSettings,
): Partial<Tracking> {
  switch (judgement.kind) {
    case 'exists':
      return {
        preOrderId: judgement.preOrderId,
        changedAt: now,
        nextActionAt: after(now, settings.pace.gapMs({ ...tracking, state: 'accepted' }, 0)),
      };
    case 'not-created':
      // The person may be wrong, so the outcome of the next create proves nothing about the earlier create.
      return { resends: tracking.resends + 1, verifications: 0, nextActionAt: now };
    case 'retry': {
      const resends = mayBeTaken(tracking) ? tracking.resends + 1 : tracking.resends;
      // After the retry, a 403 for this order may stop all creates of the account again.
      return { resends, verifications: 0, forbiddenIn: 0, nextActionAt: now };
    }
    case 'abandoned':
    case 'cancel': {
      const gapMs = plannedGapMs(0, settings.recheckFinalAfter);
      return { rechecks: 0, changedAt: now, nextActionAt: gapMs === undefined ? null : after(now, gapMs) };
    }
  }
}

/** Moves a disputed order to open or final. The contradictions in `oursDespite` do not dispute the order again. */
function decideOurs(
  tracking: Tracking,
  { record, contradictions }: NewestRecord,
  how: { readonly source: 'operator'; readonly reason: string; readonly actor: string },
  now: Date,
  settings: FollowSettings,
): Decision {
  const isFinal = isFinalRecord(record, settings);
  const outcome = isFinal ? outcomeOf(record, settings) : null;
  const oursDespite = settling(tracking, contradictions);
  const moved = move(tracking, isFinal ? 'final' : 'open', how, { oursDespite, outcome, changedAt: now, rechecks: 0 });
  const nextActionAt = nextLookupAt(moved.tracking, now, settings);
  return { ...moved, tracking: { ...moved.tracking, nextActionAt } };
}

function settling({ oursDespite }: Tracking, contradictions: readonly Contradiction[]): string {
  const news = disputesOf({ oursDespite }, contradictions, { disputedBy: CONTRADICTION_KINDS });
  return JSON.stringify([...settledIn(oursDespite), ...news.map(({ kind, actual }): Settled => [kind, actual])]);
}

/** Moves an unknown or held order to accepted if `isSent`, else to pending. Returns no moves for other states. */
export function decideDoubt(tracking: Tracking, isSent: boolean, how: Assumption, now: Date): readonly Decision[] {
  if (tracking.state !== 'unknown' && tracking.state !== 'held') return [];
  const held = tracking.state === 'unknown' ? [move(tracking, 'held', how)] : [];
  const from = held[0]?.tracking ?? tracking;
  const { resends } = from;
  const moved = isSent
    ? move(from, 'accepted', how, { changedAt: now, nextActionAt: now })
    : move(from, 'pending', how, { resends: resends + 1, verifications: 0, nextActionAt: now });
  return [...held, moved];
}
