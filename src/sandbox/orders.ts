import type { Clock } from '../clock.ts';
import { answer, refuse, type SandboxAnswer } from './answer.ts';
import { orderRecord, type SandboxPreOrder } from './order-record.ts';
import type { PreOrderFields } from './requests.ts';
import { SCENARIOS, scenarioNamedIn, type Scenario } from './scenario.ts';

/** What the orders of a sandbox depend on. */
export interface OrderOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly scenarioOf?: (externalOrderId: string) => Scenario | undefined;
  readonly speed?: number;
  readonly merchantId?: string;
}

/**
 * The pre-orders and orders of the sandbox: §4.9, §4.10, §4.11. As the interface has no idempotency, an external order id
 * that is sent twice makes two pre-orders.
 */
export class Orders {
  readonly #options: OrderOptions;
  readonly #byId = new Map<string, SandboxPreOrder>();
  readonly #byExternalId = new Map<string, SandboxPreOrder[]>();
  #made = 0;

  constructor(options: OrderOptions) {
    this.#options = options;
  }

  create(fields: PreOrderFields): SandboxAnswer {
    this.#made += 1;
    const preOrder: SandboxPreOrder = {
      id: `pre-${this.#made}`,
      number: this.#made,
      createdAt: this.#options.clock.now(),
      externalOrderId: fields.externalOrderId,
      fields: { ...fields, exchangeType: 'SELL' },
      asset: fields.asset.value,
      scenario: this.#scenarioOf(fields.externalOrderId),
      speed: this.#options.speed ?? 1,
    };
    this.#byId.set(preOrder.id, preOrder);
    const made = this.#byExternalId.get(preOrder.externalOrderId);
    if (made === undefined) this.#byExternalId.set(preOrder.externalOrderId, [preOrder]);
    else made.push(preOrder);
    return preOrderAnswer(preOrder);
  }

  showPreOrder(id: string): SandboxAnswer {
    const preOrder = this.#byId.get(id);
    return preOrder === undefined ? refuse('preOrderNotFound') : preOrderAnswer(preOrder);
  }

  showOrder(externalOrderId: string): SandboxAnswer {
    const [preOrder] = this.madeFor(externalOrderId);
    const { clock, merchantId } = this.#options;
    const record = preOrder && orderRecord(preOrder, clock.now(), merchantId ?? 'merchant-1');
    return record === undefined ? refuse('orderNotFound') : answer(200, record);
  }

  madeFor(externalOrderId: string): readonly SandboxPreOrder[] {
    return this.#byExternalId.get(externalOrderId) ?? [];
  }

  census(): { preOrders: number; duplicated: string[] } {
    const duplicated = [...this.#byExternalId].filter(([, made]) => made.length > 1).map(([id]) => id);
    return { preOrders: this.#byId.size, duplicated };
  }

  #scenarioOf(externalOrderId: string): Scenario {
    const chosen = this.#options.scenarioOf?.(externalOrderId) ?? scenarioNamedIn(externalOrderId, SCENARIOS);
    if (chosen !== undefined) return chosen;
    const name = this.#options.random() < 0.1 ? 'rejected' : 'completed';
    return SCENARIOS[name] ?? { appearsAfterMs: null, steps: [] };
  }
}

function preOrderAnswer({ id, fields }: SandboxPreOrder): SandboxAnswer {
  const nothing = { limit: null, paymentToken: null, providerType: null, cryptoAddress: null, bonus: null };
  return answer(200, { ...nothing, ...fields, id });
}
