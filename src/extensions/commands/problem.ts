import { withCommas } from '../../base/words.ts';
import { KEY_SETTING } from '../../settings/settings-file.ts';
import { accountWords } from '../../accounts/rules/name.ts';
import { REFUSALS, type RestraintKind, type RestraintView } from '../../accounts/rules/restraints.ts';
import type { Severity } from '../../findings/rules/classes.ts';

type Weight = Exclude<Severity, 'info'>;

const RESUME = 'order-sync resume{words} --reason TEXT';

export const OTHER_ACCOUNTS_REMEDY =
  'add the account to the settings, or correct the column account of rows that were not sent';

export const KEPT_BACK_REMEDY = 'check the row of the order and the triggers of merchant_orders';

/** Severity and remedy. In a severity, the greatest risk of money comes first. `{words}` stands for `--account`. */
const PROBLEMS = {
  disputed: ['error', 'order-sync orders list --state disputed{words}'],
  held: ['error', 'order-sync orders list --state held{words}'],
  finding: ['error', 'order-sync findings list --status open{words}'],
  'older-state': ['error', 'order-sync db accept-restore'],
  stopped: ['error', 'order-sync doctor{words}'],
  'database-unreadable': ['error', 'check the disk of the database, or its server'],
  'database-unwritten': ['error', 'order-sync doctor'],
  'other-migrations': ['error', 'start the version that migrated the database'],
  // `no-daemon` precedes outages and refused keys, because without a daemon the database may show outdated ones.
  'no-daemon': ['error', 'order-sync run'],
  'key-refused': ['error', keyRemedy()],
  'out-of-reach': ['error', 'order-sync doctor{words}'],
  forbidden: ['error', 'ask the exchange why the account may not create'],
  guarded: ['error', RESUME],
  slowed: ['error', RESUME],
  restored: ['error', RESUME],
  'not-owner': ['error', "wait, or read the daemon's log"],
  'lease-lost': ['error', 'check that the database answers'],
  stalled: ['error', "read the daemon's log, then restart the daemon"],
  'disk-full': ['error', 'free space on the disk'],
  stopping: ['error', 'start the daemon again'],
  'other-accounts': ['warning', OTHER_ACCOUNTS_REMEDY],
  unknown: ['warning', 'order-sync orders list --state unknown{words}'],
  invalid: ['warning', 'order-sync orders list --state invalid{words}'],
  'kept-back': ['warning', KEPT_BACK_REMEDY],
  'silent-owner': ['warning', 'if the owner is a command, wait for its end; if it hangs, stop it and read its log'],
  unreadable: ['warning', 'order-sync probe{words}'],
  'all-paused': ['warning', RESUME],
  'creates-paused': ['warning', RESUME],
  'orders-wait': ['warning', 'order-sync orders list --state pending{words}'],
  'pass-waits': ['warning', "read the daemon's log"],
  'receiver-fails': ['warning', 'order-sync webhooks list'],
  'dead-letters': ['warning', 'order-sync webhooks list'],
  parked: ['warning', 'order-sync webhooks list'],
  'settings-changed': [
    'warning',
    'run order-sync config check, then restart the daemon, so that it reads the settings',
  ],
  clock: ['warning', 'check the time service of this machine and of the database server'],
  ops: ['warning', 'set ops.listen to a free port, or to off'],
  decided: ['warning', 'order-sync findings list --status open{words}'],
} as const satisfies Record<string, readonly [Weight, string]>;

/** A running daemon reads a key file each minute, but a key setting only at its start. `places` may name several. */
export function keyRemedy(places?: string, isRunning = true): string {
  const put = `put the right key into ${places ?? 'the place that order-sync config show prints'}`;
  if (!isRunning) return `${put}: the daemon tries it when it starts`;
  if (places === KEY_SETTING) return `${put}, then restart the daemon, if one runs`;
  if (places !== undefined && !places.includes(KEY_SETTING))
    return `${put}: a running daemon reads that file again within a minute`;
  return `${put}: a running daemon reads a key file again within a minute, but a key in the settings only when it restarts`;
}

export type ProblemCode = keyof typeof PROBLEMS;

/** A problem, in the words that all commands, pages and answers of the API show. */
export interface Problem {
  readonly code: ProblemCode;
  readonly severity: Weight;
  /** `account` is set if the problem concerns a single account. `class` is a class of findings. */
  readonly about: {
    readonly account?: string;
    readonly externalOrderId?: string;
    readonly receiver?: string;
    readonly class?: string;
  };
  readonly since: string | null;
  readonly text: string;
  /** A command of order-sync, or advice in words. */
  readonly remedy: string;
}

/** `group` lists the accounts; an empty group means all accounts. `severity` and `remedy` override `PROBLEMS`. */
type Parts = Partial<Omit<Problem, 'code' | 'text'>> & { readonly group?: readonly OfAccount[] };

type OfAccount = Readonly<{ account: string; since?: string | null }>;

export function problem(code: ProblemCode, text: string, { group = [], ...parts }: Parts = {}): Problem {
  const [severity, remedy] = PROBLEMS[code];
  const [first] = group;
  const account = group.length === 1 ? first?.account : undefined;
  return {
    code,
    severity,
    about: account === undefined ? {} : { account },
    since: first?.since ?? null,
    text,
    remedy: remedy.replace('{words}', wordsOf(group)),
    ...parts,
  };
}

export function worstFirst(problems: readonly (Problem | false)[]): readonly Problem[] {
  const codes = Object.keys(PROBLEMS);
  const placeOf = ({ code, severity }: Problem) => (severity === 'error' ? 0 : codes.length) + codes.indexOf(code);
  return problems.filter((found) => found !== false).toSorted((a, b) => placeOf(a) - placeOf(b));
}

export function wordsOf(group: readonly OfAccount[]): string {
  return group.length === 1 ? accountWords(group[0]?.account ?? '') : ' --account all';
}

const MOST_NAMED = 3;

/** Returns ` for` and the names of the first accounts, or an empty text if only the account `asked` is shown. */
export function forAccounts(group: readonly OfAccount[], asked: string | null, isCut?: boolean): string {
  const names = group.map(({ account }) => account);
  return asked === null ? ` for ${firstOf(names, isCut)}` : '';
}

/** Lists of accounts, and of holds of one kind, end at this number. */
export const MOST_LISTED = 100;

export function firstOf(names: readonly string[], isCut = names.length >= MOST_LISTED): string {
  const more = names.length > MOST_NAMED ? ` and ${isCut ? 'at least ' : ''}${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

const STATES = {
  held: ['order is held', 'orders are held'],
  disputed: ['order is disputed', 'orders are disputed'],
  unknown: ['order has an unknown outcome', 'orders have unknown outcomes'],
  invalid: ['new order is invalid', 'new orders are invalid'],
} as const;

export function countedProblems(
  state: keyof typeof STATES,
  orders: number,
  group: readonly OfAccount[],
  isMore = false,
): readonly Problem[] {
  if (orders <= 0) return [];
  const text = `${withCommas(orders)}${isMore ? ' more' : ''} ${STATES[state][orders === 1 ? 0 : 1]}`;
  return [problem(state, text, { group })];
}

/** A `rate-limited` hold is no problem, because the hold ends by itself. */
const HOLDS: Readonly<Record<Exclude<RestraintKind, 'rate-limited'>, string>> = {
  'creates-paused': 'creating orders is paused',
  'all-paused': 'creating orders and looking them up is paused',
  restored: 'no orders are created: the database was put back to an older state',
  'key-refused': 'the exchange refuses the key',
  forbidden: 'the exchange does not let the account create orders',
  guarded: 'no orders are created: a limit of guard.* was reached',
  slowed: 'orders are created slowly: the outcomes of creates are unknown',
};

export type KeyPlaceOf = (account: string) => string;

/** Makes one problem of all holds with the same kind, reason and person. `asked` is null for all accounts. */
export function holdProblems(
  holds: readonly (RestraintView & OfAccount)[],
  asked: string | null,
  { keyPlaceOf, isRunning }: { readonly keyPlaceOf?: KeyPlaceOf | undefined; readonly isRunning?: boolean } = {},
): readonly Problem[] {
  const groups = Map.groupBy(holds, ({ kind, reason, actor }) => JSON.stringify([kind, reason, actor]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.kind === 'rate-limited') return [];
    const { kind, reason, actor } = first;
    const by = actor === null ? '' : ` by ${actor}`;
    const more = Object.values<string>(REFUSALS).includes(reason) ? '' : `: ${reason}`;
    const places = keyPlaceOf && firstOf([...new Set(group.map(({ account }) => keyPlaceOf(account)))]);
    const key = kind === 'key-refused' && { remedy: keyRemedy(places, isRunning) };
    const isCut = holds.filter((one) => one.kind === kind).length >= MOST_LISTED;
    return [problem(kind, `${HOLDS[kind]}${forAccounts(group, asked, isCut)}${by}${more}`, { group, ...key })];
  });
}
