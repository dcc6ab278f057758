import { loadConfig } from '../test/support/settings.ts';
import { LONGEST_GAP_MS } from '../src/extensions/pace/pace.ts';
import { longestLookupGapMs } from '../src/orders/rules/schedule.ts';
import type { Figure } from './figures.ts';
import { compare, type Comparison, type FollowedBy } from './following/compare.ts';
import { writeTables } from './following/table.ts';
import { RATIOS, ratiosOf } from './following/targets.ts';
import { HOUR, SECOND, type World } from './following/world.ts';
import { worldsOf, type WorldSize } from './following/worlds.ts';
import { SMALL, type Bench } from './settings.ts';
import { paceSettings } from '../src/extensions/pace/settings.ts';

const SIZE: WorldSize = { ordersADay: 12_000, warmUpMs: 6 * HOUR, measuredMs: 5 * HOUR };
const SMALL_SIZE: WorldSize = { ordersADay: 3_000, warmUpMs: 2 * HOUR, measuredMs: HOUR };
const ORDINARY = ['logNormal', 'heavy', 'atOnce', 'rhythm', 'regime', 'neverEnd', 'hourly', 'nothingKnown'] as const;
/** Look-ups a second that are set aside for orders that are followed. */
const BUDGETS = [0.65, 1, 2, 4, 8];

/** A worth beside the default of `follow.worth`. */
const LOW_WORTH_MS = 100;
const QUIET_SECONDS = 60;
const QUIET_PART = 0.05;
const IDLE_PART = 0.01;

/** How late changes are seen, by simulation: the figures are the same on every machine. */
export async function measureFollowing({ folder, sizes, say, write }: Bench): Promise<Figure[]> {
  const config = loadConfig({ requireExchange: false, env: { ORDER_SYNC_CONFIG: '/dev/null' }, cwd: folder });
  const { reconcile, exchange } = config;
  const { follow } = paceSettings.of(config);
  const longestMs = Math.min(LONGEST_GAP_MS, longestLookupGapMs(reconcile.freshFor));
  const settings: FollowedBy = { worthMs: follow.worth, share: follow.share, longestMs };
  const worlds = worldsOf(sizes === SMALL ? SMALL_SIZE : SIZE, longestMs);
  const followed = (world: World, budget: number, worthMs = settings.worthMs) => {
    say(`following: ${world.name}, ${budget} look-ups a second`);
    return compare(world, budget, { ...settings, worthMs });
  };
  const atEach = (world: World, budgets: readonly number[]) => budgets.map((budget) => followed(world, budget));
  if (sizes === SMALL) return atEach(worlds.logNormal(), [2]).flatMap(figuresOf);
  const ordinary = ORDINARY.flatMap((name) => atEach(worlds[name](), BUDGETS));
  const atDefault = (follow.share * exchange.rate.requests * SECOND) / exchange.rate.interval;
  const quiet = followed(worlds.quiet(), atDefault);
  const few = worlds.fewTakenUp();
  const fewTakenUp = [
    followed(few, atDefault),
    followed({ ...few, name: `${few.name}, worth ${LOW_WORTH_MS} ms` }, atDefault, LOW_WORTH_MS),
  ];
  const overload = followed(worlds.overload(), 0.65);
  const all = [...ordinary, quiet, ...fewTakenUp, overload];
  if (write) writeTables(all);
  return [
    ...all.flatMap(figuresOf),
    ...figuresOfQuiet(quiet, follow.share),
    ...fewTakenUp.map(partOfBudget),
    longestWait(overload, reconcile.freshFor),
  ];
}

function figuresOf(comparison: Comparison): Figure[] {
  const ratios = ratiosOf(comparison);
  return [
    { name: nameOf(comparison, 'mean delay'), unit: 's', value: comparison.results.learned.mean },
    ...RATIOS.map((name) => ({
      name: nameOf(comparison, name),
      unit: 'of it',
      value: ratios[name].value,
      target: { atMost: ratios[name].atMost },
    })),
  ];
}

function figuresOfQuiet(comparison: Comparison, share: number): Figure[] {
  const { budget, results } = comparison;
  const { mean, idle } = results.learned;
  const vain = { name: nameOf(comparison, 'final and idle, of the rate'), unit: '', value: (idle * share) / budget };
  return [
    {
      name: nameOf(comparison, 'mean delay in quiet times'),
      unit: 's',
      value: mean,
      target: { atMost: QUIET_SECONDS },
    },
    { ...partOfBudget(comparison), target: { atMost: QUIET_PART } },
    { ...vain, target: { atMost: IDLE_PART } },
  ];
}

function partOfBudget(comparison: Comparison): Figure {
  const { budget, results } = comparison;
  return { name: nameOf(comparison, 'part of the budget'), unit: '', value: results.learned.lookups / budget };
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
