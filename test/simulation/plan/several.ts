import { faultsOf, type FaultName } from '../faults.ts';
import { OUTAGES, planDecisions, planOutages, planStaleSaves, someOf, type AccountPlan } from './account.ts';
import { HOUR, MINUTE, type Chance, type Stretch } from './chance.ts';
import { planOrders, withOddAnswers } from './orders.ts';
import { planSettings } from './settings.ts';

/** The share of worlds that have several accounts. */
const SEVERAL = 0.2;
const OTHERS = ['other', 'third'];
const MOST_ORDERS = 3;
/** The constant behaviour of an exchange to one account. */
const TROUBLES: readonly (FaultName | 'paused')[] = [...OUTAGES, 'key-refused', 'rate-limited', 'paused', 'paused'];

/** The parts of a world for its accounts. */
interface World {
  readonly calmAt: number;
  readonly clockSet: readonly Stretch[];
}

/** The accounts of a world. */
export interface SeveralAccounts {
  readonly accounts: readonly AccountPlan[];
  readonly sharesLimit: boolean;
}

/**
 * Plans two or three accounts in place of one, in a share of the worlds or always; undefined in the others. They have orders of the same ids.
 * In most, one of them has trouble with its exchange all the time, or is paused, and nothing goes wrong with the exchanges of the
 * others.
 */
export function planSeveral(
  first: AccountPlan,
  world: World,
  chance: Chance,
  isAlways: boolean,
): SeveralAccounts | undefined {
  if (chance.next() >= SEVERAL && !isAlways) return undefined;
  const others = OTHERS.slice(0, chance.of([1, 1, 2])).map((name) => planAccount(name, world, chance));
  const sharesLimit = chance.next() < 0.3;
  const all = [withFewOrders(first), ...others];
  const sick = chance.next() < 0.6 ? chance.below(all.length) : undefined;
  const accounts = all.map((account, index) => {
    const settings = sharesLimit ? { ...account.settings, rate: first.settings.rate } : account.settings;
    const its = { ...account, settings };
    if (sick === undefined) return its;
    return index === sick ? inTrouble(its, world, chance) : well(its);
  });
  return { accounts, sharesLimit };
}

function planAccount(account: string, { calmAt, clockSet }: World, chance: Chance): AccountPlan {
  const drawn = planSettings(chance);
  // A create is sent again by the clock on the wall.
  const settings = clockSet.length === 0 ? drawn : { ...drawn, onUnknown: 'hold' as const };
  const planned = planOrders(chance, calmAt).slice(0, MOST_ORDERS);
  const orders = withOddAnswers(planned, chance).map((order) =>
    settings.assetPerHour.length > 0 ? { ...order, position: 'INPUT' as const } : order,
  );
  const isStoppedForGood = settings.createsPerHour !== undefined || settings.assetPerHour.length > 0;
  return {
    account,
    orders,
    settings,
    faults: chance.of([0, 0.05, 0.2, 0.5]),
    createFaults: someOf(chance, faultsOf('create')),
    lookupFaults: someOf(chance, faultsOf('lookup')),
    outages: planOutages(chance, calmAt),
    paused: chance.maybe(0.2, () => ({ ...chance.window(calmAt), kind: 'all-paused' as const })),
    resumedEveryMs: isStoppedForGood ? 2 * HOUR : null,
    staleSaves: chance.next() < 0.2 ? planStaleSaves(chance, orders, calmAt) : [],
    decisions: planDecisions(chance, orders, calmAt),
    decidesInFlight: chance.of([0, 0, 0.2, 0.5]),
    isWell: false,
  };
}

function withFewOrders(account: AccountPlan): AccountPlan {
  const orders = account.orders.slice(0, MOST_ORDERS);
  const isKept = ({ id }: { readonly id: string }) => orders.some((order) => order.id === id);
  return {
    ...account,
    orders,
    decisions: account.decisions.filter(isKept),
    staleSaves: account.staleSaves.filter(isKept),
  };
}

function inTrouble(account: AccountPlan, { calmAt }: World, chance: Chance): AccountPlan {
  const window = { from: chance.of([0, chance.below(MINUTE)]), to: calmAt };
  const trouble = chance.of(TROUBLES);
  if (trouble === 'paused') return { ...account, paused: { ...window, kind: 'all-paused' } };
  return { ...account, outages: [{ ...window, isOfCreates: false, fault: trouble }] };
}

function well(account: AccountPlan): AccountPlan {
  const orders = account.orders.map((order) => {
    const { answers: _, ...scenario } = order.scenario;
    return { ...order, answeredBy: null, scenario };
  });
  return {
    ...account,
    orders,
    settings: { ...account.settings, createsPerHour: undefined, assetPerHour: [] },
    faults: 0,
    outages: [],
    paused: null,
    resumedEveryMs: null,
    staleSaves: [],
    decisions: [],
    decidesInFlight: 0,
    isWell: true,
  };
}
