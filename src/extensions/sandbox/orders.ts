import type { Clock } from '../../base/clock.ts';
import Big from 'big.js';
import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { answer, bodyOf, refuse, type SandboxAnswer } from './api.ts';
import { olderRecord, orderRecord, exchangeTypeOf, termsOf } from './order-record.ts';
import type { OrderRecord, SandboxPreOrder, Pair } from './order-record.ts';
import { ODD_ANSWERS, type OddAnswers, SCENARIOS, scenarioNamedIn, type Scenario } from './scenario.ts';
import { STRAY_ORDER, tamperingNamedIn } from './tampering.ts';

const exactNumber = z.custom<LosslessNumber>(isLosslessNumber, { error: 'must be a number', abort: true });
const text = z.string().min(1);

export const preOrderRequest = bodyOf({
  externalOrderId: text,
  asset: exactNumber.refine(({ value }) => new Big(value).gt(0), 'must be positive'),
  assetPosition: text,
  currencyPair: z.strictObject({ fromCurrency: text, toCurrency: text }),
  orderType: text,
  limit: exactNumber.nullish(),
  paymentToken: z.string().nullish(),
  providerType: z.string().nullish(),
  cryptoAddress: z.string().nullish(),
  bonus: exactNumber.nullish(),
}).refine(
  ({ asset, bonus, currencyPair }) => !bonus || new Big(bonus.value).lt(termsOf(currencyPair, asset.value).crypto),
  { path: ['bonus'], message: 'must be less than the crypto amount' },
);

export interface OrderOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns the scenario of an order, or undefined if the id or chance decides. */
  readonly scenarioOf?: (externalOrderId: string) => Scenario | undefined;
  readonly rejected?: number;
  /** How much faster orders and verifications change than in their scenarios. */
  readonly speed?: number;
  readonly merchantId?: string;
  readonly firstNumber?: number;
}

/** The pre-orders and orders (§4.9, §4.10, §4.11). An external order id that is sent twice makes two pre-orders. */
export class Orders {
  readonly #options: OrderOptions;
  readonly #byId = new Map<string, SandboxPreOrder>();
  readonly #byExternalId = new Map<string, readonly SandboxPreOrder[]>();
  readonly #strays = new Map<string, SandboxPreOrder>();
  readonly #shownCompleted = new Set<string>();
  /** The first transaction hash and the first id that were shown of untampered orders. */
  #shownHash: string | null = null;
  #shownId: string | null = null;
  readonly #turns = new Map<string, number>();
  #oddOne: string | undefined;

  constructor(options: OrderOptions) {
    this.#options = options;
  }

  create(fields: z.infer<typeof preOrderRequest>): SandboxAnswer {
    const { externalOrderId, asset } = fields;
    const odd = this.#oddAnswersOf(externalOrderId);
    if (odd?.create?.isTaken === false) return odd.create.answer(this.#turn(externalOrderId));
    const preOrder = this.#make(externalOrderId, fields, asset.value);
    this.#byId.set(preOrder.id, preOrder);
    this.#byExternalId.set(externalOrderId, [...this.preOrdersOf(externalOrderId), preOrder]);
    return odd?.create?.answer(preOrder.number) ?? answer(200, shownPreOrder(preOrder, odd));
  }

  showPreOrder(id: string): SandboxAnswer {
    const preOrder = this.#byId.get(id);
    if (preOrder === undefined || tamperingNamedIn(preOrder.externalOrderId)?.isPreOrderDenied === true)
      return refuse('preOrderNotFound');
    return answer(200, shownPreOrder(preOrder, this.#oddAnswersOf(preOrder.externalOrderId)));
  }

  showOrder(externalOrderId: string): SandboxAnswer {
    const tampering = tamperingNamedIn(externalOrderId);
    const [made] = this.preOrdersOf(externalOrderId);
    const preOrder = made ?? (tampering?.isStray === true ? this.#stray(externalOrderId) : undefined);
    const odd = this.#oddAnswersOf(externalOrderId);
    const record = preOrder && orderRecord(preOrder, this.#options.clock.now());
    if (preOrder === undefined || record === undefined)
      return odd?.absent?.(this.#turn(externalOrderId)) ?? refuse('orderNotFound');
    if (odd?.isOfOneOrder === true) this.#oddOne ??= externalOrderId;
    if (odd?.record !== undefined && (odd.isOfOneOrder !== true || this.#oddOne === externalOrderId))
      return odd.record(record, olderRecord(preOrder, record), this.#turn(externalOrderId));
    const wasCompleted = this.#shownCompleted.has(externalOrderId);
    const moment = { wasCompleted, otherHash: this.#shownHash, otherOrderId: this.#shownId };
    this.#noteShown(record);
    const shown = tampering?.record === undefined ? record : tampering.record(record, moment);
    return shown === undefined ? refuse('orderNotFound') : answer(200, spelled(shown, odd));
  }

  preOrdersOf(externalOrderId: string): readonly SandboxPreOrder[] {
    return this.#byExternalId.get(externalOrderId) ?? [];
  }

  census(): { preOrders: number; duplicated: string[] } {
    const duplicated = [...this.#byExternalId].filter(([, made]) => made.length > 1).map(([id]) => id);
    return { preOrders: this.#byId.size, duplicated };
  }

  #make(externalOrderId: string, fields: SandboxPreOrder['fields'], asset: string): SandboxPreOrder {
    const { clock, random, rejected = 0, speed = 1, merchantId = 'merchant-1', firstNumber = 1 } = this.#options;
    const number = firstNumber + this.#byId.size + this.#strays.size;
    const drawn = () => (random() < rejected ? SCENARIOS.rejected : SCENARIOS.completed);
    return {
      id: `pre-${number}`,
      number,
      createdAt: clock.now(),
      externalOrderId,
      fields: { ...fields, exchangeType: exchangeTypeOf(fields['currencyPair'] as Pair) },
      asset,
      scenario: this.#chosenScenario(externalOrderId) ?? drawn(),
      speed,
      merchantId,
    };
  }

  #stray(externalOrderId: string): SandboxPreOrder {
    const known = this.#strays.get(externalOrderId);
    if (known !== undefined) return known;
    const made = this.#make(externalOrderId, STRAY_ORDER, STRAY_ORDER.asset);
    const stray = { ...made, scenario: { ...made.scenario, appearsAfterMs: 0 } };
    this.#strays.set(externalOrderId, stray);
    return stray;
  }

  #noteShown({ externalOrderId, order }: OrderRecord): void {
    if (order.completionDate !== undefined) this.#shownCompleted.add(externalOrderId);
    // Values of a tampered order must not cause a finding of another order.
    if (tamperingNamedIn(externalOrderId) !== undefined) return;
    this.#shownId ??= order.id;
    this.#shownHash ??= order.cryptoTransaction.transactionHash ?? null;
  }

  #oddAnswersOf(externalOrderId: string): OddAnswers | undefined {
    const [preOrder] = this.preOrdersOf(externalOrderId);
    const scenario = preOrder?.scenario ?? this.#chosenScenario(externalOrderId);
    return scenario?.answers && ODD_ANSWERS[scenario.answers];
  }

  #turn(externalOrderId: string): number {
    const turn = this.#turns.get(externalOrderId) ?? 0;
    this.#turns.set(externalOrderId, turn + 1);
    return turn;
  }

  #chosenScenario(externalOrderId: string): Scenario | undefined {
    const chosen = this.#options.scenarioOf?.(externalOrderId);
    if (chosen !== undefined) return chosen;
    const isTampered = tamperingNamedIn(externalOrderId) !== undefined;
    return isTampered ? SCENARIOS.completed : scenarioNamedIn(externalOrderId, SCENARIOS);
  }
}

function shownPreOrder(preOrder: SandboxPreOrder, odd: OddAnswers | undefined): object {
  const nothing = { limit: null, paymentToken: null, providerType: null, cryptoAddress: null, bonus: null };
  const body = { ...nothing, ...preOrder.fields, id: preOrder.id };
  return spelled(tamperingNamedIn(preOrder.externalOrderId)?.echo?.(body) ?? body, odd);
}

function spelled(body: Readonly<Record<string, unknown>>, odd: OddAnswers | undefined): object {
  if (odd?.spelling === undefined) return body;
  return { ...body, externalOrderId: odd.spelling(String(body['externalOrderId'])) };
}
