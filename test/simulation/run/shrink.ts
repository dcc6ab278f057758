import { planOf, type Plan } from '../plan/plan.ts';
import { prepareGround } from '../ground.ts';
import { live } from '../world.ts';
import type { Outcome } from '../modes/mode.ts';

const MOST_TRIES = 150;
const LAST_LINES = 30;

/** The smallest plan that was found to break the same promise, and what happened in its world. */
export interface Shrunk {
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly tries: number;
}

/** A plan without one of its parts. */
const WITHOUT: readonly Partial<Plan>[] = [
  { others: [], sharesLimit: false },
  { sharesLimit: false },
  { workers: null },
  { workers: null, shared: null },
  { deathAtStep: 0, deathAtStatement: 0 },
  { faults: 0 },
  { outages: [] },
  { busy: 0 },
  { diskFull: null },
  { readOnly: null },
  { paused: null },
  { resumedEveryMs: null },
  { clockSet: [] },
  { blocked: [] },
  { staleSaves: [] },
  { trigger: null },
  { decidesInFlight: 0 },
];

/** Leaves out parts of the plan of a seed as long as the same promise is broken. Another plan is another world: what is left is enough, not needed. */
export async function shrink(seed: number, violation: string): Promise<Shrunk> {
  using ground = await prepareGround();
  const promise = promiseOf(violation);
  let plan = planOf(seed);
  let outcome = await live(plan, ground);
  let tries = 1;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const smaller of smallerThan(plan)) {
      if (tries >= MOST_TRIES) return { plan, outcome, tries };
      tries += 1;
      const tried = await live(smaller, ground);
      if (tried.violation === undefined || promiseOf(tried.violation) !== promise) continue;
      [plan, outcome, isSmaller] = [smaller, tried, true];
      break;
    }
  }
  return { plan, outcome, tries };
}

/** The plan and the end of the trace, to read. */
export function describeShrunk({ plan, outcome: { trace, violation }, tries }: Shrunk): string {
  const parts = Object.entries(plan).map(([name, part]) => `  ${name}: ${JSON.stringify(part)}`);
  return [
    `smaller, after ${tries} tries: ${violation}`,
    ...parts,
    `the last of ${trace.length} lines:`,
    ...trace.slice(-LAST_LINES).map((line) => `  ${line}`),
    '',
  ].join('\n');
}

function promiseOf(violation: string): string {
  return violation.split(':')[0] ?? violation;
}

/** Plans with one part less, the largest parts first. */
function* smallerThan(plan: Plan): Generator<Plan> {
  for (const without of WITHOUT) {
    const isThere = Object.entries(without).some(
      ([name, value]) => JSON.stringify(plan[name as keyof Plan]) !== JSON.stringify(value),
    );
    if (isThere) yield { ...plan, ...without };
  }
  for (const decisions of withFewer(plan.decisions)) yield { ...plan, decisions };
  for (const orders of withFewer(plan.orders)) {
    if (orders.length === 0) continue;
    const ids = new Set(orders.map(({ id }) => id));
    yield { ...plan, orders, decisions: plan.decisions.filter(({ id }) => ids.has(id)) };
  }
  for (const [index, order] of plan.orders.entries()) {
    const { answers, ...scenario } = order.scenario;
    if (answers === undefined) continue;
    yield { ...plan, orders: plan.orders.with(index, { ...order, scenario }) };
  }
}

/** Without one half, then without one. */
function* withFewer<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  const half = items.length >> 1;
  if (half > 1) {
    yield items.slice(0, half);
    yield items.slice(half);
  }
  for (const index of items.keys()) yield items.toSpliced(index, 1);
}
