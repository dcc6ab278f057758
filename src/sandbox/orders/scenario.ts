import { nameAfter } from '../names.ts';
import { ODD_ANSWERS, type OddAnswersName } from './odd-answers.ts';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../config/values.ts';

/** One step in the life of an order, `afterMs` after the step before. */
export interface ScenarioStep {
  readonly afterMs: number;
  readonly orderStatus?: string | undefined;
  readonly cryptoStatus?: string | undefined;
  readonly fiatStatus?: string | undefined;
  /** Sets or removes `completionDate`. */
  readonly completed?: boolean | undefined;
}

/**
 * The life of an order. The interface shows only the statuses REQUEST and NEW (§3): the others, their order and their
 * delays are ours, and a real exchange will differ.
 */
export interface Scenario {
  /** The time from the pre-order until the order appears; null for never. */
  readonly appearsAfterMs: number | null;
  readonly steps: readonly ScenarioStep[];
  /** How the exchange answers about it; as the interface shows where it is undefined. */
  readonly answers?: OddAnswersName;
}

/** Scenarios by name. */
export type Scenarios = Readonly<Record<string, Scenario>>;

const COMPLETED: readonly ScenarioStep[] = [
  { afterMs: 3_000, orderStatus: 'IN_PROGRESS', cryptoStatus: 'PENDING' },
  { afterMs: 4_000, cryptoStatus: 'CONFIRMED', fiatStatus: 'PENDING' },
  { afterMs: 4_000, orderStatus: 'COMPLETED', fiatStatus: 'PAID', completed: true },
];

/** The built-in scenarios. */
export const SCENARIOS: Scenarios = {
  completed: { appearsAfterMs: 2_000, steps: COMPLETED },
  rejected: {
    appearsAfterMs: 2_000,
    steps: [
      { afterMs: 4_000, orderStatus: 'REJECTED', cryptoStatus: 'CANCELLED', fiatStatus: 'CANCELLED', completed: true },
    ],
  },
  /** The order appears only after several look-ups of an unknown outcome. */
  late: { appearsAfterMs: 90_000, steps: COMPLETED },
  /** Final, and later open again. */
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
  ...Object.fromEntries(
    (Object.keys(ODD_ANSWERS) as OddAnswersName[]).map((answers) => [
      answers,
      { appearsAfterMs: 2_000, steps: COMPLETED, answers },
    ]),
  ),
};

const PREFIX = 'scenario-';

/** Finds the scenario that an external order id `scenario-<name>-…` asks for. */
export function scenarioNamedIn(externalOrderId: string, scenarios: Scenarios): Scenario | undefined {
  const name = nameAfter(PREFIX, externalOrderId, Object.keys(scenarios));
  return name === undefined ? undefined : scenarios[name];
}

const duration = z.string().transform((text, context) => {
  try {
    return parseDuration(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});
const status = z.string().min(1).optional();
const scenario = z
  .strictObject({
    appearsAfter: z.union([z.literal('never').transform(() => null), duration]),
    steps: z
      .array(
        z
          .strictObject({
            after: duration,
            order: status,
            crypto: status,
            fiat: status,
            completed: z.boolean().optional(),
          })
          .transform(({ after: afterMs, order: orderStatus, crypto: cryptoStatus, fiat: fiatStatus, completed }) => ({
            afterMs,
            orderStatus,
            cryptoStatus,
            fiatStatus,
            completed,
          })),
      )
      .default([]),
  })
  .transform(({ appearsAfter, steps }) => ({ appearsAfterMs: appearsAfter, steps }));
const file = z.record(z.string().regex(/^[\w-]+$/, 'must be a name of letters, digits, - and _'), scenario);

/**
 * Reads the scenarios of a YAML file, by name: `name: {appearsAfter: 2s, steps: [{after: 3s, order: PAID, completed: true}]}`; the
 * statuses of a step are `order`, `crypto` and `fiat`, `appearsAfter` may be `never`. Throws an error that says where.
 */
export function readScenarios(yaml: string): Scenarios {
  const checked = file.safeParse(parse(yaml));
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'cannot be read'}`);
}
