import { RESEND_NOT_BEFORE_MS } from './follow.ts';
import type { OrderState } from './states.ts';
import { followIntervalMs, recheckGapMs } from './schedule.ts';
import { after } from '../instant.ts';
import { move, type Decision, type Tracking } from './tracking.ts';

/** What a person decides about an order. `preOrderId` is what the exchange calls its pre-order (§2.6). */
export type Judgement =
  | { readonly kind: 'exists'; readonly preOrderId: string }
  | { readonly kind: 'not-created' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'retry'; readonly mayDuplicate: boolean }
  | { readonly kind: 'cancel' };

/** A judgement, who made it and why. */
export interface OperatorAction {
  readonly judgement: Judgement;
  readonly actor: string;
  readonly reason: string;
}

/** What comes of it: the moves to be written, one after the other, or why there are none. */
export type OperatorDecision =
  | { readonly ok: true; readonly moves: readonly Decision[]; readonly to: OrderState }
  | { readonly ok: false; readonly why: string };

/** Settings that deciding needs; times in milliseconds. */
export interface OperatorSettings {
  readonly recheckFinalAfter: readonly number[];
}

type Targets = Readonly<Partial<Record<OrderState, OrderState>>>;

/** Where each judgement leads from each state. From `unknown` the way goes through `held`; both moves are recorded. */
const TARGETS: Readonly<Record<Judgement['kind'], Targets>> = {
  exists: { unknown: 'accepted', held: 'accepted' },
  'not-created': { unknown: 'pending', held: 'pending' },
  abandoned: { unknown: 'abandoned', held: 'abandoned', accepted: 'abandoned' },
  retry: { unknown: 'pending', held: 'pending', rejected: 'pending', invalid: 'pending' },
  cancel: { pending: 'cancelled' },
};

/** How a person writes each judgement. */
const COMMANDS: Readonly<Record<Judgement['kind'], string>> = {
  exists: 'orders resolve --as exists',
  'not-created': 'orders resolve --as not-created',
  abandoned: 'orders resolve --as abandoned',
  retry: 'orders retry',
  cancel: 'orders cancel',
};

/** Why an order of each state is not moved by just any judgement. */
const STANDING: Readonly<Record<OrderState, string>> = {
  pending: 'is pending: it is sent by itself when it is due',
  sending: 'is being sent: what comes of it is known within seconds',
  unknown: 'is unknown: the exchange may have taken it, and look-ups go on',
  held: 'is held: the exchange may have taken it',
  accepted: 'is accepted: the exchange has its pre-order',
  open: 'is open: its order exists at the exchange and is followed to its end there',
  final: 'is final',
  rejected: 'was rejected by the exchange',
  invalid: 'is invalid and was not sent: mend the row, or delete it',
  cancelled: 'was cancelled: insert it again under another id',
  abandoned: 'was abandoned: insert it again under another id',
};

/** The states that a judgement moves an order from. */
export function statesFor(kind: Judgement['kind']): readonly OrderState[] {
  return Object.keys(TARGETS[kind]) as OrderState[];
}

/** The commands that move an order of this state, for people. */
export function commandsFor(state: OrderState): readonly string[] {
  const kinds = Object.keys(TARGETS) as Judgement['kind'][];
  return kinds.filter((kind) => statesFor(kind).includes(state)).map((kind) => COMMANDS[kind]);
}

/** What a person's judgement does to an order as it stands now. */
export function decideByOperator(
  tracking: Tracking,
  action: OperatorAction,
  now: Date,
  settings: OperatorSettings,
): OperatorDecision {
  const { judgement } = action;
  const target = TARGETS[judgement.kind][tracking.state];
  if (target === undefined) return { ok: false, why: notAllowed(tracking.state) };
  const why = tooDangerous(tracking, judgement, now);
  if (why !== undefined) return { ok: false, why };
  const how = { source: 'operator', reason: action.reason, actor: action.actor } as const;
  const held = tracking.state === 'unknown' ? [move(tracking, 'held', how)] : [];
  const from = held[0]?.tracking ?? tracking;
  const moved = move(from, target, how, changesOf(tracking, judgement, now, settings));
  return { ok: true, moves: [...held, moved], to: target };
}

function notAllowed(state: OrderState): string {
  const commands = commandsFor(state);
  const instead = commands.length === 0 ? 'nothing is for a person to decide' : `allowed: ${commands.join(', ')}`;
  return `it ${STANDING[state]}; ${instead}`;
}

/** A create that is sent a second time may be a second pre-order: nothing at the exchange prevents it (§4.9). */
function tooDangerous(tracking: Tracking, judgement: Judgement, now: Date): string | undefined {
  if (judgement.kind === 'retry' && !judgement.mayDuplicate && mayBeTaken(tracking)) {
    return (
      'nobody knows whether the exchange took it, so that sending it again may make a second pre-order; ' +
      'ask the exchange and use orders resolve, or give --i-know-it-may-duplicate'
    );
  }
  if (judgement.kind === 'cancel' && tracking.resends > 0) {
    return (
      'it is to be sent again and the exchange may have taken it before, so it is not cancelled; ' +
      'once it was sent, ask the exchange and use orders resolve'
    );
  }
  return judgement.kind === 'not-created' ? notKnowable(tracking, now) : undefined;
}

/** That an order was not created can be known only from a look-up after the create can no longer arrive. */
function notKnowable({ sentAt, lastLookupAt }: Tracking, now: Date): string | undefined {
  if (sentAt === null) return undefined;
  const knowableAt = after(sentAt, RESEND_NOT_BEFORE_MS);
  const instead = 'or use orders retry --i-know-it-may-duplicate';
  if (now < knowableAt) {
    const times = `it was sent ${sentAt.toISOString()} and may still arrive; say so after ${knowableAt.toISOString()}`;
    return `${times}, ${instead}`;
  }
  if (lastLookupAt !== null && lastLookupAt >= knowableAt) return undefined;
  return `no look-up since ${knowableAt.toISOString()} has told that there is no order; run sync first, ${instead}`;
}

function mayBeTaken({ state }: Tracking): boolean {
  return state === 'unknown' || state === 'held';
}

function changesOf(tracking: Tracking, judgement: Judgement, now: Date, settings: OperatorSettings): Partial<Tracking> {
  switch (judgement.kind) {
    case 'exists':
      return { preOrderId: judgement.preOrderId, changedAt: now, nextActionAt: after(now, followIntervalMs(0)) };
    case 'not-created':
      // The person may be wrong: what comes of the next create proves nothing of this one.
      return { resends: tracking.resends + 1, verifications: 0, nextActionAt: now };
    case 'retry': {
      const resends = mayBeTaken(tracking) ? tracking.resends + 1 : tracking.resends;
      return { resends, verifications: 0, nextActionAt: now };
    }
    case 'abandoned':
    case 'cancel': {
      const gapMs = recheckGapMs(0, settings.recheckFinalAfter);
      return { rechecks: 0, changedAt: now, nextActionAt: gapMs === undefined ? null : after(now, gapMs) };
    }
  }
}
