import type { Judgement } from '../../src/domain/orders/operator-decisions.ts';
import { decideOrders, type OperatorDeps } from '../../src/flows/orders/operator-decisions.ts';
import type { SandboxExchange } from '../../src/sandbox/exchange.ts';
import type { Observer } from './observer.ts';
import type { PlannedDecision } from './plan.ts';

/** A person beside the program, with a connection of their own. They ask the exchange before they say what it has. */
export class Person implements AsyncDisposable {
  readonly #deps: OperatorDeps;
  readonly #exchange: SandboxExchange;
  readonly #observer: Observer;

  constructor(deps: OperatorDeps, exchange: SandboxExchange, observer: Observer) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#observer = observer;
  }

  /** Tries a decision; whether the order moved. */
  async decide(decision: PlannedDecision): Promise<boolean> {
    const { id } = decision;
    const judgement = this.#judge(decision);
    const action = { judgement, actor: 'person', reason: 'as planned' };
    for await (const result of decideOrders(this.#deps, [{ externalOrderId: id }], action)) {
      if (result.kind === 'passed-over') continue;
      this.#observer.decided(id, judgement.kind, result.from);
      return true;
    }
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deps.store.close();
  }

  #judge({ id, kind }: PlannedDecision): Judgement {
    const [made] = this.#exchange.preOrdersOf(id);
    if (kind === 'retry') return { kind, mayDuplicate: true };
    if (kind === 'exists' || kind === 'not-created') {
      return made === undefined ? { kind: 'not-created' } : { kind: 'exists', preOrderId: made.id };
    }
    return { kind };
  }
}
