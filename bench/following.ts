import { loadConfig } from '../src/config/config.ts';
import { LONGEST_GAP_MS } from '../src/domain/orders/pace/pace.ts';
import { longestFreshMs } from '../src/domain/orders/schedule.ts';
import type { Figure } from './figures.ts';
import { compare, type Comparison, type FollowedBy } from './following/compare.ts';
import { writeTable } from './following/table.ts';
import { HOUR, SECOND } from './following/world.ts';
import { worldsOf, type WorldSize } from './following/worlds.ts';
import { SMALL, type Bench } from './settings.ts';

const SIZE: WorldSize = { ordersADay: 12_000, warmUpMs: 6 * HOUR, measuredMs: 5 * HOUR };
const SMALL_SIZE: WorldSize = { ordersADay: 3_000, warmUpMs: 2 * HOUR, measuredMs: HOUR };
const ORDINARY = ['logNormal', 'heavy', 'atOnce', 'rhythm', 'regime', 'neverEnd', 'hourly'] as const;
/** Look-ups a second that are set aside for orders that are followed. */
const BUDGETS = [0.65, 1, 2, 4, 8];

const OF_STEPS = 0.5;
const OF_STEPS_UNKNOWN = 1.1;
const OF_ORACLE = 1.15;
const QUIET_SECONDS = 60;
const QUIET_PART = 0.05;
const IDLE_PART = 0.01;

/** How late changes are seen, by simulation: the figures are the same on every machine. */
export async function measureFollowing({ folder, sizes, say, write }: Bench): Promise<Figure[]> {
  const config = loadConfig({ requireExchange: false, env: { ORDER_SYNC_CONFIG: '/dev/null' }, cwd: folder });
  const { follow, reconcile, exchange } = config;
  const longestMs = Math.min(LONGEST_GAP_MS, longestFreshMs(reconcile.freshFor));
  const settings: FollowedBy = { steps: follow.steps, worthMs: follow.worth, share: follow.share, longestMs };
  const worlds = worldsOf(sizes === SMALL ? SMALL_SIZE : SIZE, longestMs);
  const followed = (name: keyof typeof worlds, budgets: readonly number[]) => {
    const world = worlds[name]();
    return budgets.map((budget) => {
      say(`following: ${world.name}, ${budget} look-ups a second`);
      return compare(world, budget, settings);
    });
  };
  if (sizes === SMALL) return followed('logNormal', [2]).flatMap(figuresOf);
  const ordinary = ORDINARY.flatMap((name) => followed(name, BUDGETS));
  const unknown = followed('nothingKnown', BUDGETS);
  const quiet = followed('quiet', [(follow.share * exchange.rate.requests * SECOND) / exchange.rate.interval]);
  const overload = followed('overload', [0.65]);
  if (write) writeTable([...ordinary, ...unknown, ...quiet, ...overload]);
  return [
    ...ordinary.flatMap(figuresOf),
    ...unknown.map((one) => besideSteps(one, OF_STEPS_UNKNOWN)),
    ...quiet.flatMap((one) => figuresOfQuiet(one, follow.share)),
    ...overload.map((one) => longestWait(one, reconcile.freshFor)),
  ];
}

function figuresOf(comparison: Comparison): Figure[] {
  const { learned, oracle, roundRobin } = comparison.results;
  return [
    { name: nameOf(comparison, 'mean delay'), unit: 's', value: learned.mean },
    besideSteps(comparison, OF_STEPS),
    {
      name: nameOf(comparison, 'beside oracle'),
      unit: 'of it',
      value: learned.mean / oracle.mean,
      target: { atMost: OF_ORACLE },
    },
    {
      name: nameOf(comparison, '95th percentile beside round robin'),
      unit: 'of it',
      value: learned.late / roundRobin.late,
      target: { atMost: 1 },
    },
  ];
}

/** It has no target where even one who knows the distributions does not reach it: the budget does not allow that. */
function besideSteps(comparison: Comparison, atMost: number): Figure {
  const { learned, oracle, steps } = comparison.results;
  const figure = { name: nameOf(comparison, 'beside steps'), unit: 'of it', value: learned.mean / steps.mean };
  return oracle.mean > atMost * steps.mean ? figure : { ...figure, target: { atMost } };
}

function figuresOfQuiet(comparison: Comparison, share: number): Figure[] {
  const { budget, results } = comparison;
  const { mean, lookups, idle } = results.learned;
  const used = { name: nameOf(comparison, 'part of the budget'), unit: '', value: lookups / budget };
  const vain = { name: nameOf(comparison, 'final and idle, of the rate'), unit: '', value: (idle * share) / budget };
  return [
    { name: nameOf(comparison, 'mean delay'), unit: 's', value: mean, target: { atMost: QUIET_SECONDS } },
    besideSteps(comparison, OF_STEPS),
    { ...used, target: { atMost: QUIET_PART } },
    { ...vain, target: { atMost: IDLE_PART } },
  ];
}

function longestWait(comparison: Comparison, freshForMs: number): Figure {
  const value = (comparison.results.learned.longestWait * SECOND) / HOUR;
  return {
    name: nameOf(comparison, 'longest time between look-ups'),
    unit: 'h',
    value,
    target: { atMost: freshForMs / HOUR },
  };
}

function nameOf({ world, budget }: Comparison, what: string): string {
  return `${world}, ${budget} a second: ${what}`;
}
