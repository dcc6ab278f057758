import { nameAfter } from '../names.ts';

/** One step of an order's life, `afterMs` after the step before it. */
export interface ScenarioStep {
  readonly afterMs: number;
  readonly orderStatus?: string | undefined;
  readonly cryptoStatus?: string | undefined;
  readonly fiatStatus?: string | undefined;
  /** Sets `completionDate`, or takes it away again. */
  readonly completed?: boolean | undefined;
}

/**
 * How orders of the sandbox live. The interface shows the statuses REQUEST and NEW and no transition (§3): the other
 * names, their order and their delays are ours, and a real exchange will differ.
 */
export interface Scenario {
  /** How long after the pre-order the order appears; null for never. */
  readonly appearsAfterMs: number | null;
  readonly steps: readonly ScenarioStep[];
}

/** Scenarios by name. */
export type Scenarios = Readonly<Record<string, Scenario>>;

const COMPLETED: readonly ScenarioStep[] = [
  { afterMs: 3_000, orderStatus: 'IN_PROGRESS', cryptoStatus: 'PENDING' },
  { afterMs: 4_000, cryptoStatus: 'CONFIRMED', fiatStatus: 'PENDING' },
  { afterMs: 4_000, orderStatus: 'COMPLETED', fiatStatus: 'PAID', completed: true },
];

/** The scenarios that the sandbox brings along. */
export const SCENARIOS: Scenarios = {
  completed: { appearsAfterMs: 2_000, steps: COMPLETED },
  rejected: {
    appearsAfterMs: 2_000,
    steps: [
      { afterMs: 4_000, orderStatus: 'REJECTED', cryptoStatus: 'CANCELLED', fiatStatus: 'CANCELLED', completed: true },
    ],
  },
  /** Appears after several look-ups of an unknown order have found nothing. */
  late: { appearsAfterMs: 90_000, steps: COMPLETED },
  /** Is final, and later is not. */
  reopened: {
    appearsAfterMs: 2_000,
    steps: [
      ...COMPLETED,
      { afterMs: 30 * 60_000, orderStatus: 'IN_PROGRESS', fiatStatus: 'PENDING', completed: false },
      { afterMs: 3_600_000, orderStatus: 'COMPLETED', fiatStatus: 'PAID', completed: true },
    ],
  },
  stuck: { appearsAfterMs: 2_000, steps: COMPLETED.slice(0, 1) },
  'never-taken-up': { appearsAfterMs: null, steps: [] },
};

const PREFIX = 'scenario-';

/** The scenario that an external order id `scenario-<name>-…` asks for. */
export function scenarioNamedIn(externalOrderId: string, scenarios: Scenarios): Scenario | undefined {
  const name = nameAfter(PREFIX, externalOrderId, Object.keys(scenarios));
  return name === undefined ? undefined : scenarios[name];
}
