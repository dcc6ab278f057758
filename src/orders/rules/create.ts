import { ACCOUNT_UNCLEAR, checkOrder, describeProblems, NULL_ACCOUNT, NULL_STANDS_FOR } from './check.ts';
import type { Answer, EchoDifference, MerchantOrder, UncheckedOrder } from './record.ts';
import { LEAST_GAP_MS, type FollowSettings } from './lookup.ts';
import { createBackoffMs, longestLookupGapMs, plannedGapMs, REJECTED_LOOKUPS_MS, spreadMs } from './schedule.ts';
import { after } from '../../base/instant.ts';
import { finding, move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';

/** The outcome of one create request (§4.9). Only `unknown` leaves open whether the exchange took this request. */
export type CreateOutcome =
  | { readonly kind: 'accepted'; readonly preOrder: AcceptedPreOrder; readonly differences: readonly EchoDifference[] }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'not-sent'; readonly why: string }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'key-refused' }
  /** A documented 403: the account may not create, or the exchange refuses this order alone. */
  | { readonly kind: 'forbidden'; readonly reason: string }
  /** `answer` is an answer that shows no outcome; undefined if no whole answer came. */
  | { readonly kind: 'unknown'; readonly why: string; readonly answer?: Answer };

interface AcceptedPreOrder {
  readonly id: string;
  readonly exchangeType: string | null;
  /** The answer's body, as received. */
  readonly body: string;
}

type ClaimDecision =
  | { readonly kind: 'skip' }
  | { readonly kind: 'invalid'; readonly decision: Decision }
  | { readonly kind: 'send'; readonly order: MerchantOrder; readonly decision: Decision };

/** `freshFor` limits the time until an accepted order is looked up. */
export type CreateSettings = Pick<FollowSettings, 'verifyAfter' | 'pace' | 'freshFor'>;
type VerifySettings = Pick<CreateSettings, 'verifyAfter'>;

export function decideClaim(tracking: Tracking, row: UncheckedOrder, now: Date, isOnlyAccount = true): ClaimDecision {
  if (tracking.state !== 'pending') return { kind: 'skip' };
  const checked = checkOrder(row);
  const isAccountUnclear = tracking.stateReason === NULL_ACCOUNT && !isOnlyAccount;
  if (!checked.ok || isAccountUnclear) {
    const problems = checked.ok ? [] : [describeProblems(checked.problems)];
    const how = {
      source: 'create',
      reason: [...(isAccountUnclear ? [ACCOUNT_UNCLEAR] : []), ...problems].join('; '),
    } as const;
    return { kind: 'invalid', decision: move(tracking, 'invalid', how, { nextActionAt: null }) };
  }
  const sent = {
    attempts: tracking.attempts + 1,
    sentAt: now,
    documentedAbsences: 0,
    absentAt: null,
    nextActionAt: null,
  };
  return { kind: 'send', order: checked.order, decision: move(tracking, 'sending', { source: 'create' }, sent) };
}

export function decideCorrected(tracking: Tracking, now: Date): Decision | undefined {
  if (tracking.state !== 'invalid' || tracking.nextActionAt === null) return undefined;
  // While the row still has the default account, nothing shows whose row it is, so the reason is `NULL_ACCOUNT` again.
  const isAccountUnclear =
    tracking.stateReason?.startsWith(ACCOUNT_UNCLEAR) === true && tracking.account === NULL_STANDS_FOR;
  const reason = isAccountUnclear ? NULL_ACCOUNT : 'the row was corrected';
  return move(tracking, 'pending', { source: 'import', reason }, { nextActionAt: now });
}

/** Returns the decisions to write in turn. `forbiddenHold` is the number of the current `forbidden` restraint. */
export function decideCreated(
  tracking: Tracking,
  outcome: CreateOutcome,
  now: Date,
  random: number,
  settings: CreateSettings,
  forbiddenHold = 1,
): readonly Decision[] {
  if (outcome.kind === 'accepted') return accepted(tracking, outcome, now, random, settings);
  if (tracking.state !== 'sending') return [];
  const backoffMs = createBackoffMs(tracking.attempts, random);
  const pendingAgain = (reason: string, ms = backoffMs, changes: Partial<Tracking> = {}) =>
    move(tracking, 'pending', { source: 'create', reason }, { ...changes, nextActionAt: after(now, ms) });
  switch (outcome.kind) {
    case 'rejected': {
      const { reason } = outcome;
      // The exchange may refuse a second create because the first was taken.
      const unclear = `${reason}; but an earlier create may have been taken`;
      if (tracking.resends > 0) return [becomesUnknown(tracking, unclear, now, settings)];
      const lookedUp = { rechecks: 0, changedAt: now, nextActionAt: after(now, REJECTED_LOOKUPS_MS[0]) };
      return [move(tracking, 'rejected', { source: 'create', reason }, lookedUp)];
    }
    case 'not-sent':
      return [pendingAgain(`${NEVER_LEFT}${outcome.why}`)];
    case 'rate-limited':
      return [pendingAgain('not taken: the exchange limits the rate (429)', Math.max(outcome.retryAfterMs, 0))];
    case 'key-refused':
      return [pendingAgain(KEY_REFUSED)];
    case 'forbidden':
      return [pendingAgain(`not taken: ${outcome.reason}`, backoffMs, { forbiddenIn: forbiddenHold })];
    case 'unknown':
      return [becomesUnknown(tracking, outcome.why, now, settings)];
  }
}

/** True if the exchange certainly did not take this create. The refusal of a repeated create is no such proof. */
export function isNotTaken({ kind }: CreateOutcome, { resends }: Pick<Tracking, 'resends'>): boolean {
  return kind === 'rejected' ? resends === 0 : kind !== 'accepted' && kind !== 'unknown';
}

/** The beginning of `stateReason` of an order that is pending again because its create was never sent. */
export const NEVER_LEFT = 'not sent: ';

export const KEY_REFUSED = 'not taken: the exchange refuses the key (401)';

/** Moves an order whose create has no known outcome to `unknown`, so that look-ups come before any second create. */
export function becomesUnknown(tracking: Tracking, why: string, now: Date, settings: VerifySettings): Decision {
  const firstMs = plannedGapMs(0, settings.verifyAfter) ?? 0;
  const changes = { nextActionAt: after(now, firstMs), verifications: 0, changedAt: now };
  return move(tracking, 'unknown', { source: 'create', reason: why }, changes);
}

type Accepted = Extract<CreateOutcome, { kind: 'accepted' }>;

/** Accepts an order that is sending, or became pending, unknown or held during the request. Others only get the id. */
function accepted(
  tracking: Tracking,
  { preOrder: { id: preOrderId, exchangeType }, differences }: Accepted,
  now: Date,
  random: number,
  settings: CreateSettings,
): readonly Decision[] {
  const late = { source: 'create', reason: 'the exchange answered an earlier request late' } as const;
  const before: Decision[] = [];
  if (tracking.state === 'unknown') before.push(move(tracking, 'held', late));
  if (tracking.state === 'pending') {
    before.push(move(tracking, 'sending', late, { attempts: tracking.attempts + 1, nextActionAt: null }));
  }
  const from = before[0]?.tracking ?? tracking;
  if (from.state !== 'sending' && from.state !== 'held') {
    return from.preOrderId === null ? [{ tracking: { ...from, preOrderId }, events: [] }] : [];
  }
  // The spread keeps orders that were accepted together from being looked up together.
  const gapMs = Math.max(LEAST_GAP_MS, spreadMs(settings.pace.gapMs({ ...from, state: 'accepted' }, 0), random));
  const nextActionAt = after(now, Math.min(longestLookupGapMs(settings.freshFor), gapMs));
  const changes = { preOrderId, exchangeType, changedAt: now, nextActionAt };
  const decision = move(from, 'accepted', { source: 'create' }, changes);
  return [...before, { ...decision, events: [...decision.events, ...echoFindings(differences)] }];
}

function echoFindings(differences: Accepted['differences']): readonly OrderEvent[] {
  return [...Map.groupBy(differences, ({ class: name }) => name)].map(([name, ofClass]) => {
    const texts = ofClass.map(({ expected, actual }) => `sent ${expected}, echoed ${actual}`);
    return finding(name, 'create', texts.join('; '), null);
  });
}

export interface Assumption extends Pick<OrderEvent, 'source' | 'reason' | 'actor'> {
  readonly failOver?: number;
}

/** Treats the create as repeated now: the order becomes unknown, or stays held. Only a person can send it again. */
export function assumeSent(tracking: Tracking, { failOver, ...how }: Assumption, now: Date, settings: VerifySettings) {
  const request = {
    attempts: tracking.attempts + 1,
    resends: tracking.resends + 1,
    sentAt: now,
    verifications: 0,
    documentedAbsences: 0,
    absentAt: null,
    changedAt: now,
    failOver: failOver ?? tracking.failOver,
    nextActionAt: after(now, plannedGapMs(0, settings.verifyAfter) ?? 0),
  };
  const { state } = tracking;
  if (state === 'unknown' || state === 'held') return { tracking: { ...tracking, ...request }, events: [] };
  return move(tracking, 'unknown', how, request);
}
