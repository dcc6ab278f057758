import { countedProblems, type Problem, type ProblemCode } from '../../../../accounts/problem.ts';
import type { OrderState } from '../../../../orders/rules/states.ts';
import { counted, sumOf } from '../../../../base/words.ts';
import type { Overview } from '../../status/status.ts';
import type { Trouble } from '../facts.ts';

/** Problems about orders, with the state of these. */
export const STATES: Partial<Record<ProblemCode, OrderState>> = {
  held: 'held',
  disputed: 'disputed',
  unknown: 'unknown',
  'orders-wait': 'pending',
};
const PAUSES: readonly ProblemCode[] = ['all-paused', 'creates-paused'];

/**
 * Tells the problems of each class as one. Errors that are not about single orders come first, because they stop all of them; the
 * orders that wait to be sent are told with the first of these, or with a pause.
 */
export function troublesOf(problems: readonly Problem[], overview: Overview): readonly Trouble[] {
  const groups = Map.groupBy(problems, ({ code, about }) => `${code} ${about.class ?? ''}`);
  const troubles = [...groups.values()].map((group) => troubleOf(group, overview));
  const rankOf = ({ severity, concerned }: Trouble) => (severity !== 'error' ? 2 : concerned === undefined ? 0 : 1);
  const sorted = troubles.toSorted((a, b) => rankOf(a) - rankOf(b));
  const stop = sorted.find((trouble) => rankOf(trouble) === 0 || PAUSES.includes(trouble.code));
  const { pending } = overview.orders;
  if (pending === 0 || troubles.some(({ code }) => code === 'orders-wait')) return sorted;
  return sorted.map((trouble) =>
    trouble === stop ? { ...trouble, concerned: { state: 'pending' }, count: pending } : trouble,
  );
}

function troubleOf(group: readonly Problem[], overview: Overview): Trouble {
  const [first] = group as [Problem, ...Problem[]];
  const since = group.flatMap((problem) => problem.since ?? []).toSorted()[0] ?? null;
  const state = STATES[first.code];
  const name = first.about.class;
  if (name !== undefined) {
    const open = sumOf(overview.findings, (found) => (found.class === name ? found.open : 0));
    return { ...first, since, concerned: { class: name }, count: open };
  }
  const text =
    group.length === 1
      ? first.text
      : `${first.text}; and ${counted(group.length - 1, 'more like this', 'more like this')}`;
  if (state === undefined) return { ...first, since, text, concerned: undefined, count: 0 };
  const count = overview.orders[state];
  const { about } = first;
  const isCounted = count > 1 && (state === 'held' || state === 'disputed' || state === 'unknown');
  if (!isCounted) return { ...first, since, text, concerned: { state }, count };
  const { account } = overview;
  const whole = countedProblems(state, count, account === null ? [] : [{ account }]);
  return {
    ...first,
    ...whole[0],
    since,
    about: about.externalOrderId === undefined ? about : {},
    concerned: { state },
    count,
  };
}
