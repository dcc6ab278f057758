/** One step of an order's life, `afterMs` after the step before it. */
export interface ScenarioStep {
  readonly afterMs: number;
  readonly orderStatus?: string;
  readonly cryptoStatus?: string;
  readonly fiatStatus?: string;
  /** Sets `completionDate`: the order is final. */
  readonly completed?: boolean;
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

const COMPLETED: Scenario = {
  appearsAfterMs: 2_000,
  steps: [
    { afterMs: 3_000, orderStatus: 'IN_PROGRESS', cryptoStatus: 'PENDING' },
    { afterMs: 4_000, cryptoStatus: 'CONFIRMED', fiatStatus: 'PENDING' },
    { afterMs: 4_000, orderStatus: 'COMPLETED', fiatStatus: 'PAID', completed: true },
  ],
};

/** The scenarios by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  completed: COMPLETED,
  rejected: {
    appearsAfterMs: 2_000,
    steps: [
      { afterMs: 4_000, orderStatus: 'REJECTED', cryptoStatus: 'CANCELLED', fiatStatus: 'CANCELLED', completed: true },
    ],
  },
  'never-taken-up': { appearsAfterMs: null, steps: [] },
};
