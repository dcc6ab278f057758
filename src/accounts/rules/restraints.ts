import { after } from '../../base/instant.ts';
import { accountWords } from './name.ts';

/** The purpose of a request: a create, a look-up of an order or link, or a request of a person. */
export type Lane = 'create' | 'lookup' | 'person';

/**
 * The lanes that each kind of restraint stops, and whether `order-sync resume` ends it. `restored`: an older database
 * was accepted. `rate-limited`: 429, or 503 with Retry-After. `forbidden`: documented 403. `slowed`: only
 * creates have unknown outcomes, so one create goes at a time, after a growing wait. `guarded`: a limit of `guard.*`.
 */
const KINDS = {
  'creates-paused': { stops: ['create'], isResumed: true },
  'all-paused': { stops: ['create', 'lookup'], isResumed: true },
  restored: { stops: ['create'], isResumed: true },
  'rate-limited': { stops: ['create', 'lookup', 'person'], isResumed: false },
  'key-refused': { stops: ['create', 'lookup'], isResumed: false },
  forbidden: { stops: ['create'], isResumed: false },
  slowed: { stops: ['create'], isResumed: true },
  guarded: { stops: ['create'], isResumed: true },
} as const satisfies Record<string, { readonly stops: readonly Lane[]; readonly isResumed: boolean }>;

export type RestraintKind = keyof typeof KINDS;

export const RESTRAINT_KINDS = Object.keys(KINDS) as readonly RestraintKind[];

/** The restraints that `order-sync resume` ends. A restraint of another kind ends when the exchange takes a request. */
export const RESUMED_RESTRAINTS = RESTRAINT_KINDS.filter((kind) => KINDS[kind].isResumed);

export interface Restraint {
  readonly kind: RestraintKind;
  readonly since: Date;
  /** From this time on, single requests probe if the restraint is over. Null if a person must end the restraint. */
  readonly until: Date | null;
  readonly reason: string;
  readonly actor: string | null;
}

export function stops({ kind }: Pick<Restraint, 'kind'>, lane: Lane): boolean {
  return (KINDS[kind].stops as readonly Lane[]).includes(lane);
}

/** How long no request of a lane may leave, in milliseconds; infinite if a person must end a restraint. */
export function stoppedForMs(restraints: readonly Restraint[], lane: Lane, now: Date): number {
  return Math.max(0, (endOf(restraints, lane) ?? 0) - now.getTime());
}

/** True if one request of a lane leaves at a time, to show if the lane's restraints are over. */
export function isProbed(restraints: readonly Restraint[], lane: Lane, now: Date): boolean {
  return (endOf(restraints, lane) ?? Number.POSITIVE_INFINITY) <= now.getTime();
}

function endOf(restraints: readonly Restraint[], lane: Lane): number | undefined {
  const ends = restraints
    .filter((restraint) => stops(restraint, lane))
    .map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

export type AccountNews =
  /** The exchange took the key, and did not ask to wait. */
  | { readonly kind: 'served' }
  /** A look-up got no answer: the exchange does not serve, or cannot be reached. */
  | { readonly kind: 'no-answer' }
  /** `hadRoom` is true if the 429 came although our own rate limit had room. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number; readonly hadRoom?: boolean }
  | { readonly kind: 'key-refused' }
  /** A create was refused because the account may not create: documented 403. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'create-accepted' }
  | { readonly kind: 'create-rejected' }
  | { readonly kind: 'create-unknown' };

export interface Restraints {
  readonly restraints: readonly Restraint[];
  readonly unknownInARow: number;
  readonly evidence?: LostCreates | undefined;
}

/** One piece of evidence: creates of unknown outcome that left before `knownAt`, or that ended while `isDoubted`. */
interface LostCreates {
  readonly knownAt: Date;
  /** True until a request after `knownAt` is served, a create is decided, or a look-up gets no answer. */
  readonly isDoubted: boolean;
}

export interface RestraintChange extends Omit<Restraints, 'restraints'> {
  readonly set?: Restraint | undefined;
  readonly ended: readonly RestraintKind[];
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** At the latest the second piece of evidence slows creates. Each further piece doubles the wait. */
const SLOWED_FROM = 2;
const FIRST_SLOWED_MS = 60_000;
const LONGEST_SLOWED_MS = 60 * 60_000;

export interface RestraintSettings {
  /** From this many pieces of evidence in a row on, creates go once an hour. */
  readonly pauseAfterUnknown: number;
}

export function decideRestraints(
  { restraints, unknownInARow, evidence }: Restraints,
  news: AccountNews,
  askedAt: Date,
  now: Date,
  settings: RestraintSettings,
): RestraintChange {
  const ended = restraints.filter((restraint) => isEndedBy(restraint, news, askedAt)).map(({ kind }) => kind);
  const doubted = evidence?.isDoubted === true ? evidence : undefined;
  const settled = evidence && { ...evidence, isDoubted: false };
  switch (news.kind) {
    case 'served': {
      if (doubted === undefined || askedAt < doubted.knownAt) return { ended, unknownInARow, evidence };
      const isSlowed = unknownInARow >= slowedFrom(settings);
      const set = isSlowed ? slowed(restraints, unknownInARow, doubted.knownAt, settings) : undefined;
      return { ended, unknownInARow, evidence: settled, set };
    }
    case 'no-answer':
      return { ended, unknownInARow: unknownInARow - (doubted === undefined ? 0 : 1), evidence: settled };
    case 'create-accepted':
    case 'create-rejected':
      return { ended, unknownInARow: 0, evidence: settled };
    case 'rate-limited':
    case 'key-refused':
    case 'forbidden':
      return { ended, unknownInARow, evidence, set: refused(restraints, news, askedAt, now) };
    case 'create-unknown': {
      const isOfLast = doubted !== undefined || (evidence !== undefined && askedAt < evidence.knownAt);
      if (isOfLast) return { ended, unknownInARow, evidence };
      return { ended, unknownInARow: unknownInARow + 1, evidence: { knownAt: now, isDoubted: true } };
    }
  }
}

export function slowedFrom({ pauseAfterUnknown }: RestraintSettings): number {
  return Math.min(SLOWED_FROM, pauseAfterUnknown);
}

/** True if the next create must wait for a look-up, which shows if only creates are lost. */
export function isInDoubt({ unknownInARow, evidence }: Restraints, settings: RestraintSettings): boolean {
  return evidence?.isDoubted === true && unknownInARow >= slowedFrom(settings);
}

function slowed(restraints: readonly Restraint[], unknownInARow: number, knownAt: Date, settings: RestraintSettings) {
  const known = restraints.find(({ kind }) => kind === 'slowed');
  const reason = `creates had unknown outcomes ${unknownInARow} times in a row while the exchange answered look-ups`;
  const restraint = { kind: 'slowed', since: known?.since ?? knownAt, until: null, reason, actor: null } as const;
  return slowedAgain(restraint, unknownInARow, knownAt, settings);
}

/** Returns `slowed` with its next end: the next create may leave 1, 2, 4 … min after `since`, at most an hour. */
export function slowedAgain(restraint: Restraint, unknownInARow: number, since: Date, settings: RestraintSettings) {
  const ms = FIRST_SLOWED_MS * 2 ** Math.min(Math.max(0, unknownInARow - SLOWED_FROM), 12);
  const isHourly = unknownInARow >= settings.pauseAfterUnknown;
  return { ...restraint, until: after(since, isHourly ? LONGEST_SLOWED_MS : Math.min(ms, LONGEST_SLOWED_MS)) };
}

export const REFUSALS = {
  'rate-limited': 'the exchange asked to wait (429, or Retry-After)',
  'key-refused': 'the exchange refuses the key (401)',
  forbidden: 'the exchange does not let the account create (403)',
} as const;

/** A request that left before a restraint began does not end it, except `slowed`, which any accepted create ends. */
function isEndedBy({ kind, since, until }: Restraint, news: AccountNews, askedAt: Date): boolean {
  if (news.kind === 'served' && kind === 'rate-limited') return until !== null && askedAt >= until;
  if (news.kind === 'served' && kind === 'key-refused') return askedAt > since;
  if (news.kind === 'create-accepted' && kind === 'forbidden') return askedAt > since;
  return news.kind === 'create-accepted' && kind === 'slowed';
}

type Refusal = Extract<AccountNews, { kind: keyof typeof REFUSALS }>;

/** If a request that left after the wait is refused, the wait doubles (1 s to 5 min). A longer Retry-After counts. */
function refused(restraints: readonly Restraint[], news: Refusal, askedAt: Date, now: Date): Restraint | undefined {
  const { kind } = news;
  const known = restraints.find((restraint) => restraint.kind === kind);
  const since = known?.since ?? now;
  const until = known?.until ?? now;
  const isNew = known === undefined || askedAt >= until;
  const lastedMs = Math.min(Math.max(FIRST_WAIT_MS, now.getTime() - since.getTime()), LONGEST_WAIT_MS);
  const next = after(now, Math.max(isNew ? lastedMs : 0, news.kind === 'rate-limited' ? news.retryAfterMs : 0));
  if (!isNew && next <= until) return undefined;
  return { kind, since, until: next, reason: REFUSALS[kind], actor: null };
}

/** The longest that a restraint may last from now. A restraint with a later end was written under another clock. */
const LONGEST_HOLD_MS = 24 * 60 * 60_000;

/** Returns a restraint for a new owner, which may have another key and another clock. */
export function takenOver(restraint: Restraint, now: Date): Restraint {
  if (restraint.until === null) return restraint;
  const isTriedNow = restraint.kind === 'key-refused' || restraint.until.getTime() - now.getTime() > LONGEST_HOLD_MS;
  return isTriedNow ? { ...restraint, until: now } : restraint;
}

/** A restraint for people and programs; times are UTC, ISO 8601. */
export type RestraintView = Readonly<ReturnType<typeof viewOf>>;

export function viewOf({ kind, since, until, reason, actor }: Restraint) {
  return { kind, since: since.toISOString(), until: until?.toISOString() ?? null, reason, actor };
}

export function describeRestraint({ kind, since, until, reason, actor }: RestraintView, account: string): string {
  const stopped =
    actor === null
      ? `requests of the account have waited since ${since} because ${reason}`
      : `the account has been paused (${kind}) since ${since} by ${actor}: ${reason}`;
  const resume = `to end: order-sync resume${accountWords(account)} --reason TEXT`;
  // A key is tried again after each `until`, so `until` is not the end of this restraint.
  const end =
    kind === 'key-refused'
      ? 'the wait ends when the exchange takes the key'
      : until === null
        ? resume
        : `the wait lasts until ${until}, or longer`;
  return `${stopped}; ${end}`;
}

/** Why an account is stopped: an older state of its database, wrong settings, or another failure. */
export type StopKind = 'older-state' | 'wrong-settings' | 'has-failed';

export interface AccountStop {
  readonly account: string;
  /** One of `StopKind`, or a word of another version. */
  readonly kind: string;
  readonly since: string;
  readonly reason: string | null;
}
