import Big from 'big.js';
import { LosslessNumber } from 'lossless-json';
import { parse } from 'yaml';
import { z } from 'zod';
import { duration } from '../../settings/values.ts';
import { answer, type SandboxAnswer } from './api.ts';
import { valueAfter } from './random.ts';
import { all, change, set, type Fields } from './tampering.ts';

export interface OddAnswers {
  readonly what: string;
  /** Answers a create. If `isTaken`, the pre-order is made all the same. */
  readonly create?: { readonly isTaken: boolean; answer(turn: number): SandboxAnswer };
  readonly absent?: (turn: number) => SandboxAnswer;
  /** Answers a look-up of an order; `older` is the record as it was before the last change. */
  readonly record?: (record: Fields, older: Fields, turn: number) => SandboxAnswer;
  /** True if only one order, the first that a look-up finds, gets the answer of `record`. */
  readonly isOfOneOrder?: boolean;
  readonly spelling?: (externalOrderId: string) => string;
}

const PATH = '/api/v1/merchant/orders';
const ABSENT_BODIES = [null, [], {}, { order: null }];
const LONG_AGO = '2024-03-01T10:00:00.000Z';

/** Each way to answer is a scenario of the same name. `turn` grows, so that `inTurn` alternates the answers. */
export const ODD_ANSWERS = {
  spring: {
    what: 'an absent order is answered 404 as Spring does',
    absent: () => answer(404, { timestamp: LONG_AGO, status: 404, error: 'Not Found', path: PATH }),
  },
  empty404: {
    what: 'an absent order is answered 404 without a body',
    absent: () => ({ status: 404, headers: {}, body: '' }),
  },
  nulls: {
    what: 'an absent order is answered 200 with null, [], {} and {"order":null} in turn',
    absent: (turn) => answer(200, inTurn(ABSENT_BODIES, turn)),
  },
  error500: {
    what: 'one order alone is always answered 500',
    isOfOneOrder: true,
    record: () => answer(500, { timestamp: LONG_AGO, status: 500, error: 'Internal Server Error', path: PATH }),
  },
  replicas: {
    what: 'two replicas answer in turn, and one never learns of the last change',
    record: (record, older, turn) => answer(200, inTurn([record, older], turn)),
  },
  foreign: {
    what: "a look-up finds another merchant's order of 2024, completed, ten times the amount",
    record: (record) => answer(200, foreign(record)),
  },
  normalising: {
    what: 'external order ids are answered trimmed and in upper case',
    spelling: (id) => id.trim().toUpperCase(),
  },
  blocked: {
    what: 'creates are refused with a 403: the merchant is blocked',
    create: {
      isTaken: false,
      answer: () => answer(403, { message: 'merchant blocked', code: '403', status: 'FORBIDDEN' }),
    },
  },
  lost: {
    what: 'creates are not taken and answered 502; there is no order',
    create: { isTaken: false, answer: () => ({ status: 502, headers: {}, body: 'bad gateway' }) },
  },
  'post-down': {
    what: 'creates are taken and answered 502, 503 and 504 in turn; look-ups work',
    create: { isTaken: true, answer: (turn) => ({ status: inTurn([502, 503, 504], turn), headers: {}, body: 'down' }) },
  },
} as const satisfies Readonly<Record<string, OddAnswers>>;

export type OddAnswersName = keyof typeof ODD_ANSWERS;

function inTurn<Item>(items: readonly Item[], turn: number): Item {
  return items[turn % items.length] as Item;
}

const tenTimes = (amount: unknown) => new LosslessNumber(new Big(String(amount)).times(10).toFixed());
const foreign = all(
  set('merchant.id', 'another-merchant'),
  set('order.id', 'order-of-another-merchant'),
  set('order.status', 'COMPLETED'),
  ...['creationDate', 'modificationDate', 'completionDate'].map((date) => set(`order.${date}`, LONG_AGO)),
  ...['inputAsset', 'outputAsset'].map((name) => change(`operation.${name}`, tenTimes)),
);

const span = duration('3650d');
const status = z.string().min(1).optional();
const step = z
  .strictObject({ after: span, order: status, crypto: status, fiat: status, completed: z.boolean().optional() })
  .transform(({ after: afterMs, ...statuses }) => ({ afterMs, ...statuses }));
const scenario = z
  .strictObject({
    appearsAfter: z.union([z.literal('never').transform(() => null), span]),
    steps: z.array(step).readonly().default([]),
  })
  .transform(({ appearsAfter, steps }) => ({ appearsAfterMs: appearsAfter, steps }));
const file = z.record(z.string().regex(/^[\w-]+$/, 'must be a name of letters, digits, - and _'), scenario);

/** One step in the life of an order, `afterMs` after the step before. */
export type ScenarioStep = Readonly<z.output<typeof step>>;

/** The life of an order. The interface shows only the statuses REQUEST and NEW (§3); all others are invented. */
export type Scenario = Readonly<z.output<typeof scenario> & { answers?: OddAnswersName }>;

export type Scenarios = Readonly<Record<string, Scenario>>;

const COMPLETED: readonly ScenarioStep[] = [
  { afterMs: 3_000, order: 'IN_PROGRESS', crypto: 'PENDING' },
  { afterMs: 4_000, crypto: 'CONFIRMED', fiat: 'PENDING' },
  { afterMs: 4_000, order: 'COMPLETED', fiat: 'PAID', completed: true },
];

const soon = (...steps: readonly ScenarioStep[]): Scenario => ({ appearsAfterMs: 2_000, steps });

export const SCENARIOS: Scenarios & Readonly<Record<'completed' | 'rejected', Scenario>> = {
  completed: soon(...COMPLETED),
  rejected: soon({ afterMs: 4_000, order: 'REJECTED', crypto: 'CANCELLED', fiat: 'CANCELLED', completed: true }),
  /** The order appears only after several look-ups of an unknown outcome. */
  late: { appearsAfterMs: 90_000, steps: COMPLETED },
  reopened: soon(
    ...COMPLETED,
    { afterMs: 30 * 60_000, order: 'IN_PROGRESS', fiat: 'PENDING', completed: false },
    { afterMs: 3_600_000, order: 'COMPLETED', fiat: 'PAID', completed: true },
  ),
  stuck: soon(...COMPLETED.slice(0, 1)),
  'never-taken-up': { appearsAfterMs: null, steps: [] },
  ...Object.fromEntries(
    (Object.keys(ODD_ANSWERS) as OddAnswersName[]).map((answers) => [answers, { ...soon(...COMPLETED), answers }]),
  ),
};

export function scenarioNamedIn(externalOrderId: string, scenarios: Scenarios): Scenario | undefined {
  return valueAfter('scenario-', externalOrderId, scenarios);
}

/** Reads the scenarios of a YAML file, by name. Throws an error with the place and the cause. */
export function readScenarios(yaml: string): Scenarios {
  const checked = file.safeParse(parse(yaml));
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'cannot be read'}`);
}
