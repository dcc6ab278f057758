import type { FaultName } from '../faults.ts';
import { Chance, DAY, HOUR, MINUTE, SECOND } from '../plan/chance.ts';
import { planAlone, type Plan } from '../plan/plan.ts';
import type { PlannedSettings } from '../plan/settings.ts';
import { live } from '../world.ts';
import type { Mode } from './mode.ts';

/** Faults that belong together, and the settings under which they matter. */
interface Theme {
  readonly createFaults: readonly FaultName[];
  readonly lookupFaults: readonly FaultName[];
  readonly settings: Partial<PlannedSettings>;
  /** Settings of the world itself. */
  readonly world?: Partial<Plan>;
}

const THEMES: readonly Theme[] = [
  {
    // The account sends again, and must tell documented absence from likely absence.
    createFaults: ['lost-before', 'lost-before', 'hangs-before', 'lost-after'],
    lookupFaults: ['missing', 'missing-otherwise', 'missing-otherwise', 'nothing', 'no-content'],
    settings: { onUnknown: 'resend' },
  },
  {
    // One record contradicts the row, and the next lacks the field that did.
    createFaults: ['lost-after', 'other-echo'],
    lookupFaults: ['other-amount', 'older-order', 'other-merchant', 'fields-missing', 'fields-missing', 'other-types'],
    settings: { outputPosition: 'outputAsset' },
  },
  {
    // Creates that are in flight together are lost together, while look-ups are answered.
    createFaults: ['lost-before', 'hangs-before', 'hangs-after'],
    lookupFaults: ['extra-fields'],
    settings: { concurrency: 6, pauseAfterUnknown: 10, rate: { requests: 8, interval: 200, mode: 'proved' } },
  },
  {
    // The connection is lost at every second commit.
    createFaults: ['lost-after'],
    lookupFaults: ['other-status'],
    settings: {},
    world: { shared: { stills: [], lostCommits: 0.5 } },
  },
];

/** The theme of the seeds from `FIRST_OF_REFUSALS` on: refusals without the documented reason, which prove nothing. */
const REFUSALS: Theme = { createFaults: ['refused-without-reason'], lookupFaults: ['extra-fields'], settings: {} };
const FIRST_OF_REFUSALS = 1_900;

/** Worlds in which a few faults that belong together happen often. Chance alone combines them too seldom. */
export const themed: Mode = {
  name: 'themed',
  run: async (seed, ground) => await live(planThemed(seed), ground),
};

function planThemed(seed: number): Plan {
  const plan = planAlone(seed);
  const chance = new Chance(seed + 10_000_019);
  const drawn = chance.of(THEMES);
  const theme = seed < FIRST_OF_REFUSALS ? drawn : REFUSALS;
  const calmAt = chance.of([20 * MINUTE, 3 * HOUR, 3 * HOUR]);
  return {
    ...plan,
    faults: chance.of([0.3, 0.6, 0.9]),
    createFaults: theme.createFaults,
    lookupFaults: theme.lookupFaults,
    // Decisions of persons, clock changes and limits would hide the effects of these faults.
    decisions: [],
    clockSet: [],
    outages: [],
    paused: null,
    settings: {
      ...plan.settings,
      absence: [],
      verifyAfter: undefined,
      giveUpAfter: undefined,
      createsPerHour: undefined,
      assetPerHour: [],
      ...theme.settings,
    },
    shared: null,
    tickMs: 5 * SECOND,
    calmAt,
    lastAt: calmAt + HOUR,
    endAt: calmAt + 3 * DAY,
    endsWhenSettled: true,
    ...theme.world,
    // An accepted order that is absent forbids to send again.
    orders: plan.orders.map((order) => ({
      ...order,
      isValid: true,
      asset: order.isValid ? order.asset : '250',
      mendedAt: null,
      answeredBy: null,
      scenario: { ...order.scenario, appearsAfterMs: 0 },
    })),
  };
}
