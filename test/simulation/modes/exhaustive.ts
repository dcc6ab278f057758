import type { Ground } from '../ground.ts';
import { MINUTE } from '../plan/chance.ts';
import type { PlannedOrder } from '../plan/orders.ts';
import { planAlone, type Plan } from '../plan/plan.ts';
import { live } from '../world.ts';
import { addCounts, type Mode, type Outcome } from './mode.ts';

const MOST_ORDERS = 2;
const MOST_FAULTS = 0.2;

/**
 * One small world a seed, which is lived through once without a death, and then once for each place at which the process can
 * die: it dies there, and another one takes up its work. Places are the moments before and after each statement, before each
 * request leaves, and after each event of the clock and the network. The process dies once a world, and no command of a
 * person dies. Commits stay: a loss of power is not modelled.
 */
export const exhaustive: Mode = {
  name: 'exhaustive',
  async run(seed, ground, place) {
    const plan = smallPlanOf(seed);
    if (place !== undefined) return await atPlace(plan, place, ground);
    const whole = await live(plan, ground);
    if (whole.violation !== undefined) return { ...whole, place: 0 };
    const counts: Record<string, number> = {};
    const places = whole.counts['places'] ?? 0;
    for (let at = 1; at <= places; at += 1) {
      const outcome = await atPlace(plan, at, ground);
      addCounts(counts, { worlds: 1, ...outcome.counts });
      if (outcome.violation !== undefined) return { ...outcome, counts };
    }
    return { ...whole, counts };
  },
};

async function atPlace(plan: Plan, place: number, ground: Ground): Promise<Outcome> {
  return { ...(await live({ ...plan, deathAt: place }, ground)), place };
}

/** The order as it is inserted at once, and lives through everything within minutes. */
function soon(order: PlannedOrder): PlannedOrder {
  const steps = order.scenario.steps.map((step) => ({ ...step, afterMs: Math.min(step.afterMs, MINUTE) }));
  return { ...order, at: 0, mendedAt: null, scenario: { ...order.scenario, steps } };
}

/** The plan of a seed, with few orders at once, faults for a moment, and an end as soon as everything has settled. */
function smallPlanOf(seed: number): Plan {
  const plan = planAlone(seed);
  const orders = plan.orders.slice(0, MOST_ORDERS).map(soon);
  return {
    ...plan,
    orders,
    faults: Math.min(plan.faults, MOST_FAULTS),
    outages: [],
    deathAt: 0,
    busy: 0,
    diskFull: null,
    readOnly: null,
    paused: null,
    clockSet: [],
    blocked: [],
    staleSaves: [],
    trigger: null,
    shared: plan.shared === null ? null : { stills: [], lostCommits: 0 },
    decisions: [],
    decidesInFlight: 0,
    receivers: [],
    isAudited: false,
    calmAt: MINUTE,
    lastAt: MINUTE,
    endAt: MINUTE + (plan.endAt - plan.calmAt),
    endsWhenSettled: true,
  };
}
