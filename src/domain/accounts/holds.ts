import { after } from '../instant.ts';
import { accountWords } from './words.ts';

/** What a hold stops: creates, the look-ups of orders and links, or also what a person asks for. */
export type HeldLane = 'create' | 'lookup' | 'person';

/**
 * The kinds of holds, and what each stops. A person pauses creates or everything; `restored` stands after a database that
 * was put back to an older state was accepted. The exchange asks to wait (`rate-limited`: 429, or Retry-After with 503),
 * refuses the key (401), or refuses the account a create (`forbidden`: documented 403). `slowed` lets one create an hour
 * go, as the last ones all had unknown outcomes. `guarded`: one more create would pass a limit of `guard.*`.
 */
const STOPS = {
  'creates-paused': ['create'],
  'all-paused': ['create', 'lookup'],
  restored: ['create'],
  'rate-limited': ['create', 'lookup', 'person'],
  'key-refused': ['create', 'lookup'],
  forbidden: ['create'],
  slowed: ['create'],
  guarded: ['create'],
} as const satisfies Record<string, readonly HeldLane[]>;

/** The kind of a hold; an account has one of each at the most. */
export type HoldKind = keyof typeof STOPS;

/** Every kind once. */
export const HOLD_KINDS = Object.keys(STOPS) as readonly HoldKind[];

/** The holds that `order-sync resume` ends. The others end when the exchange takes a request. */
export const RESUMED_HOLDS: readonly HoldKind[] = ['creates-paused', 'all-paused', 'restored', 'slowed', 'guarded'];

/** A reason for which an account sends nothing of a kind, or one request at a time. */
export interface Hold {
  readonly kind: HoldKind;
  readonly since: Date;
  /** From then on one request at a time goes, to see whether the hold is over; null: until a person ends it. */
  readonly until: Date | null;
  readonly reason: string;
  /** The person who set it. */
  readonly actor: string | null;
}

/** The decision about requests of a lane: they go, one at a time goes to see whether the hold is over, or none goes. */
export type SendingDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'probe'; readonly hold: Hold }
  | { readonly kind: 'held'; readonly hold: Hold };

/** Tells whether a hold stops requests of a lane. */
export function stops({ kind }: Pick<Hold, 'kind'>, lane: HeldLane): boolean {
  return (STOPS[kind] as readonly HeldLane[]).includes(lane);
}

/** Decides from an account's holds whether requests of a lane may go. The hold that lasts longest decides. */
export function decideSending(holds: readonly Hold[], lane: HeldLane, now: Date): SendingDecision {
  const [longest] = holds.filter((hold) => stops(hold, lane)).toSorted((a, b) => endOf(b) - endOf(a));
  if (longest === undefined) return { kind: 'free' };
  return endOf(longest) > now.getTime() ? { kind: 'held', hold: longest } : { kind: 'probe', hold: longest };
}

function endOf({ until }: Hold): number {
  return until?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** What one reply of the exchange says of the account. */
export type AccountNews =
  /** The key was taken, and nothing asked to wait. */
  | { readonly kind: 'served' }
  /** `hadRoom` where it came (429) although our own rate limit had room. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number; readonly hadRoom?: boolean }
  | { readonly kind: 'key-refused' }
  /** A create was refused as the account may not create: documented 403. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'create-accepted' }
  | { readonly kind: 'create-rejected' }
  | { readonly kind: 'create-unknown' };

/** What binds an account. */
export interface Restraints {
  readonly holds: readonly Hold[];
  /** Creates in a row, up to the last one, whose outcomes are unknown. */
  readonly unknownInARow: number;
}

/** What a reply changes: the hold that it sets in place of one of its kind, and the kinds of holds that it ends. */
export interface RestraintChange {
  readonly set?: Hold | undefined;
  readonly ended: readonly HoldKind[];
  readonly unknownInARow: number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** While creates are slowed, one goes in this time. */
const SLOWED_MS = 60 * 60_000;

/** Settings that decide about holds. */
export interface HoldSettings {
  /** So many creates of unknown outcome in a row slow them. */
  readonly pauseAfterUnknown: number;
}

/** Decides what a reply to a request of `askedAt` changes of what binds the account. */
export function decideRestraints(
  { holds, unknownInARow }: Restraints,
  news: AccountNews,
  askedAt: Date,
  now: Date,
  { pauseAfterUnknown }: HoldSettings,
): RestraintChange {
  const ended = holds.filter((hold) => isEndedBy(hold, news, askedAt)).map(({ kind }) => kind);
  switch (news.kind) {
    case 'served':
      return { ended, unknownInARow };
    case 'create-accepted':
    case 'create-rejected':
      return { ended, unknownInARow: 0 };
    case 'rate-limited':
    case 'key-refused':
    case 'forbidden':
      return { ended, unknownInARow, set: refused(holds, news, askedAt, now) };
    case 'create-unknown': {
      const isSlowed = holds.some(({ kind }) => kind === 'slowed');
      const inARow = unknownInARow + 1;
      if (isSlowed || inARow < pauseAfterUnknown) return { ended, unknownInARow: isSlowed ? 0 : inARow };
      // Counted anew once a person has ended the hold.
      return { ended, unknownInARow: 0, set: slowed(inARow, now) };
    }
  }
}

/** The hold that lets one create an hour go, the next one in an hour. */
function slowed(creates: number, now: Date): Hold {
  const reason = `the last ${creates} creates all had unknown outcomes; one an hour goes until one is accepted`;
  return { kind: 'slowed', since: now, until: after(now, SLOWED_MS), reason, actor: null };
}

/** The same hold once a create has gone. */
export function slowedAgain(hold: Hold, now: Date): Hold {
  return { ...hold, until: after(now, SLOWED_MS) };
}

/** Why the exchange holds an account, by the kind of its reply. */
export const REFUSALS = {
  'rate-limited': 'the exchange asked to wait (429, or Retry-After)',
  'key-refused': 'the exchange refuses the key (401)',
  forbidden: 'the exchange does not let the account create (403)',
} as const;

/** A request that was in flight when a hold began does not end it. */
function isEndedBy({ kind, since, until }: Hold, news: AccountNews, askedAt: Date): boolean {
  if (news.kind === 'served' && kind === 'rate-limited') return until !== null && askedAt >= until;
  if (news.kind === 'served' && kind === 'key-refused') return askedAt > since;
  if (news.kind === 'create-accepted' && kind === 'forbidden') return askedAt > since;
  return news.kind === 'create-accepted' && kind === 'slowed';
}

type Refusal = Extract<AccountNews, { kind: keyof typeof REFUSALS }>;

/**
 * The hold that a refusal sets: for 1 s, or for `retryAfterMs` where that is longer. When it comes again after the wait,
 * the next wait is as long as the hold has lasted, up to 5 min, so that waits double. A request that was in flight
 * meanwhile must not double them.
 */
function refused(holds: readonly Hold[], news: Refusal, askedAt: Date, now: Date): Hold | undefined {
  const { kind } = news;
  const known = holds.find((hold) => hold.kind === kind);
  const since = known?.since ?? now;
  const until = known?.until ?? now;
  const isNew = known === undefined || askedAt >= until;
  const lastedMs = Math.min(Math.max(FIRST_WAIT_MS, now.getTime() - since.getTime()), LONGEST_WAIT_MS);
  const next = after(now, Math.max(isNew ? lastedMs : 0, news.kind === 'rate-limited' ? news.retryAfterMs : 0));
  if (!isNew && next <= until) return undefined;
  return { kind, since, until: next, reason: REFUSALS[kind], actor: null };
}

/** The longest time from now that a hold of the program's own may last; one that lasts longer was written under another clock. */
const LONGEST_HOLD_MS = 24 * 60 * 60_000;

/** A hold as a new owner takes it over: its key may be another one, and its clock too. */
export function takenOver(hold: Hold, now: Date): Hold {
  if (hold.until === null) return hold;
  const isTriedNow = hold.kind === 'key-refused' || hold.until.getTime() - now.getTime() > LONGEST_HOLD_MS;
  return isTriedNow ? { ...hold, until: now } : hold;
}

/** A hold for people and programs; times are UTC, ISO 8601. */
export interface HoldView extends Pick<Hold, 'kind' | 'reason' | 'actor'> {
  readonly since: string;
  readonly until: string | null;
}

/** Gives a hold with its times as text. */
export function viewOf({ kind, since, until, reason, actor }: Hold): HoldView {
  return { kind, since: since.toISOString(), until: until?.toISOString() ?? null, reason, actor };
}

/** Says why an account is held, since when, and until when. */
export function describeHold({ kind, since, until, reason, actor }: HoldView, account: string): string {
  const by = actor === null ? '' : ` by ${actor}`;
  const end =
    until === null ? `until: order-sync resume${accountWords(account)} --reason TEXT` : `until ${until}, or longer`;
  return `the account is held (${kind}) since ${since}${by}: ${reason}; ${end}`;
}
