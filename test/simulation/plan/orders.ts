import type { OddAnswersName, Scenario, ScenarioStep } from '../../../src/extensions/sandbox/scenario.ts';
import type { FaultName } from '../faults.ts';
import { HOUR, MINUTE, SECOND, type Chance } from './chance.ts';

/** A row that the merchant inserts. */
export interface PlannedOrder {
  readonly id: string;
  readonly at: number;
  readonly asset: string | null;
  readonly isValid: boolean;
  readonly position: 'INPUT' | 'OUTPUT';
  readonly paymentToken: string | null;
  readonly scenario: Scenario;
  /** When the merchant mends a row that is not valid. */
  readonly mendedAt: number | null;
  /** How each look-up of it is answered, for ever. */
  readonly answeredBy: FaultName | null;
}

/** A payment token that must never be seen outside the row and the wire. */
export const CANARY_TOKEN = 'canary-token-31';

const IDS = [
  'shop-1',
  'SHOP-1',
  `it's "1"`,
  'Zeile\u20282',
  'two  blanks',
  'заказ-7',
  '../..',
  'a?b=c&d',
  '%2e',
  '0',
  '😀',
];
const AMOUNTS = ['1.50', '0.000000012345678901', '12345678901234567.123456789012345678', '1e-7', '250', '0.1'];
const NO_AMOUNTS = ['0', 'NaN', '-1', '1e400', 'one', '', null];
const ODD: readonly OddAnswersName[] = [
  'spring',
  'empty404',
  'nulls',
  'error500',
  'replicas',
  'foreign',
  'normalising',
  'post-down',
];
/** The answers about one order that an exchange may send for ever, and which say nothing of the others. */
const FOR_EVER: readonly FaultName[] = [
  'html',
  'truncated',
  'deep',
  'no-content',
  'nothing',
  'not-utf8',
  'other-order',
  'no-status',
  'status-of-other-type',
  'missing-otherwise',
  'other-refusal',
  'redirected',
  'server-error',
  'hangs-after',
  'too-large',
];
const REOPENED: readonly ScenarioStep[] = [
  { afterMs: 30 * MINUTE, order: 'IN_PROGRESS', completed: false },
  { afterMs: HOUR, order: 'COMPLETED', completed: true },
];
const STATUSES = ['REQUEST', 'IN_PROGRESS', 'WAITING', 'COMPLETED', 'REJECTED', 'something new'];

/** Few rows, with ids and amounts of every kind. */
export function planOrders(chance: Chance, calmAt: number): PlannedOrder[] {
  const lastAt = Math.min(calmAt, 10 * MINUTE);
  const count = chance.of([1 + chance.below(3), 1 + chance.below(3), 2 + chance.below(10), chance.of([4, 4, 4, 16])]);
  return Array.from({ length: count }, (_, index) => {
    const isValid = chance.next() < 0.85;
    const at = chance.next() < 0.5 ? 0 : chance.below(lastAt);
    return {
      id: IDS[index] ?? `order-${index}`,
      at,
      asset: chance.of(isValid ? AMOUNTS : NO_AMOUNTS),
      isValid,
      position: chance.next() < 0.1 ? 'OUTPUT' : 'INPUT',
      paymentToken: chance.next() < 0.3 ? CANARY_TOKEN : null,
      scenario: planScenario(chance),
      answeredBy: null,
      mendedAt: !isValid && chance.next() < 0.5 ? at + chance.below(lastAt) : null,
    };
  });
}

/** In half of the worlds the exchange answers oddly about some orders, for ever. */
export function withOddAnswers(orders: readonly PlannedOrder[], odd: Chance): PlannedOrder[] {
  const share = odd.of([0, 0, 0.2, 0.6]);
  return orders.map((order) => {
    if (odd.next() >= share) return order;
    if (odd.next() < 0.4) return { ...order, answeredBy: odd.of(FOR_EVER) };
    return { ...order, scenario: { ...order.scenario, answers: odd.of(ODD) } };
  });
}

function planScenario(chance: Chance): Scenario {
  const steps: ScenarioStep[] = Array.from({ length: chance.below(4) }, () => ({
    afterMs: chance.of([SECOND, MINUTE, 2 * HOUR]),
    ...(chance.next() < 0.6 && { order: chance.of(STATUSES) }),
    ...(chance.next() < 0.4 && { crypto: chance.of(STATUSES) }),
    ...(chance.next() < 0.4 && { fiat: chance.of(STATUSES) }),
  }));
  const end: ScenarioStep = { afterMs: chance.of([SECOND, HOUR]), order: 'COMPLETED', completed: true };
  return {
    appearsAfterMs: chance.next() < 0.1 ? null : chance.of([0, 2 * SECOND, MINUTE, 9 * MINUTE]),
    steps: chance.next() < 0.9 ? [...steps, end, ...(chance.next() < 0.1 ? REOPENED : [])] : steps,
  };
}
