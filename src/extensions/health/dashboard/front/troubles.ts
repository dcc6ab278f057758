import { countedProblems, problem, type Problem, type ProblemCode } from '../../../commands/problem.ts';
import type { OrderState } from '../../../../orders/rules/states.ts';
import { sumOf } from '../../../../base/words.ts';
import type { Overview } from '../../status/status.ts';
import type { Concerned } from '../../tables/sums.ts';

export const STATES: Partial<Record<ProblemCode, OrderState>> = {
  held: 'held',
  disputed: 'disputed',
  unknown: 'unknown',
  invalid: 'invalid',
  'orders-wait': 'pending',
};
const PAUSES: readonly ProblemCode[] = ['all-paused', 'creates-paused'];

export interface Trouble extends Problem {
  readonly concerned: Concerned | undefined;
  readonly count: number;
  readonly stake?: { readonly amounts: readonly Record<'currency' | 'amount', string>[]; readonly isCut: boolean };
  readonly advice?: string | undefined;
}

/** Errors without orders or findings come first. The first error or pause that stops all pending orders counts them. */
export function troublesOf(problems: readonly Problem[], overview: Overview): Trouble[] {
  const groups = Map.groupBy(problems, ({ code, about }) => `${code} ${about.class ?? ''}`);
  const troubles = [...groups.values()].map((group) => troubleOf(group, overview));
  const rankOf = ({ severity, concerned }: Trouble) => (severity !== 'error' ? 2 : concerned === undefined ? 0 : 1);
  const sorted = troubles.toSorted((a, b) => rankOf(a) - rankOf(b));
  const isStop = (trouble: Trouble) => rankOf(trouble) === 0 || PAUSES.includes(trouble.code);
  const stop = sorted.find((trouble) => isStop(trouble) && stopsAllPending(trouble, overview));
  const { pending } = overview.orders;
  if (pending === 0 || troubles.some(({ code }) => code === 'orders-wait')) return sorted;
  return sorted.map((one) => (one === stop ? { ...one, concerned: { state: 'pending' }, count: pending } : one));
}

function stopsAllPending({ code, about }: Trouble, { accounts, holds, stopped, outOfReach }: Overview): boolean {
  const known = [...holds.filter(({ kind }) => kind === code), ...(code === 'stopped' ? stopped : [])];
  const names = [...known, ...(code === 'out-of-reach' ? outOfReach : [])].map(({ account }) => account);
  // A trouble without accounts concerns the whole process.
  const of = new Set(about.account === undefined ? names : [about.account]);
  return of.size === 0 || accounts.every(({ account, orders }) => of.has(account) || (orders['pending'] ?? 0) === 0);
}

function troubleOf(group: readonly Problem[], { account, orders, findings, newInvalid }: Overview): Trouble {
  const [first] = group as [Problem, ...Problem[]];
  const { code, severity, about } = first;
  const since = group.flatMap((one) => one.since ?? []).toSorted()[0] ?? null;
  const { class: name } = about;
  if (name !== undefined) {
    const ofClass = findings.filter((one) => one.class === name);
    const decided = sumOf(ofClass, (one) => one.decided ?? 0);
    const left = { concerned: { class: name, status: decided > 0 ? 'undecided' : 'open' } } as const;
    if (code === 'decided') return { ...first, since, concerned: { class: name, status: code }, count: decided };
    return { ...first, since, ...left, count: sumOf(ofClass, ({ open }) => open) - decided };
  }
  if (code === 'invalid' && newInvalid !== null) {
    const concerned = { state: code, since: newInvalid.since };
    return { ...first, since: newInvalid.since, concerned, count: newInvalid.orders };
  }
  const state = STATES[code];
  const [concerned, count] = state === undefined ? [undefined, 0] : [{ state }, orders[state]];
  if (group.length === 1) return { ...first, concerned, count };
  const own = account === null ? [] : [{ account }];
  const isNamed = code === 'held' || code === 'disputed';
  const [all] = isNamed ? countedProblems(code, count, own) : [];
  const text = `${first.text}; and ${group.length - 1} more like this`;
  return { ...(all ?? problem(code, text, { group: own })), severity, since, concerned, count };
}
