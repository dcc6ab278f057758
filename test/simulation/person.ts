import type { Judgement } from '../../src/extensions/operate/rules/judgement.ts';
import { decideOrders, type OperatorDeps } from '../../src/extensions/operate/decide-orders.ts';
import type { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import { RESUMED_RESTRAINTS } from '../../src/accounts/rules/restraints.ts';
import { endHolds, setHold } from '../../src/store/tables/account-holds.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/port.ts';
import type { Observer } from './observer/observer.ts';
import type { PlannedDecision } from './plan/account.ts';

/** A person beside the program, with a connection of their own. They ask the exchange before they say what it has. */
export class Person implements AsyncDisposable {
  #deps: OperatorDeps;
  readonly #exchange: SandboxExchange;
  readonly #observer: Observer;

  constructor(deps: OperatorDeps, exchange: SandboxExchange, observer: Observer) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#observer = observer;
  }

  /** Has another connection from now on. */
  goOnWith(store: Store): void {
    this.#deps = { ...this.#deps, store };
  }

  /** Tries a decision; returns whether the order moved. */
  async decide(decision: PlannedDecision): Promise<boolean> {
    try {
      return await this.#tryTo(decision);
    } catch (error) {
      // The command says that a trigger of the merchant's refuses it.
      if (error instanceof StoreError && error.problem === 'refused') return false;
      throw error;
    }
  }

  async #tryTo(decision: PlannedDecision): Promise<boolean> {
    const { id } = decision;
    const judgement = this.#judge(decision);
    const action = { judgement, actor: 'person', reason: 'as planned' };
    for await (const result of decideOrders(this.#deps, [{ externalOrderId: id }], action)) {
      if (result.kind === 'passed-over') continue;
      this.#observer.decided(id, judgement, result.from);
      return true;
    }
    return false;
  }

  /** Tries to have orders sent again, but none that may be created twice. */
  async retry(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.decide({ id, kind: 'retry', isCareful: true });
  }

  /** Pauses the account. */
  async pause(kind: 'creates-paused' | 'all-paused'): Promise<void> {
    const { account, store, clock } = this.#deps;
    const hold = { kind, since: clock.now(), until: null, reason: 'as planned', actor: 'person' } as const;
    await store.writer.write((tx) => setHold(tx, account, hold, clock.now()));
    this.#observer.paused(kind);
  }

  async resume(): Promise<void> {
    const { account, store, clock } = this.#deps;
    const how = { reason: 'as planned', actor: 'person', now: clock.now() };
    await store.writer.write((tx) => endHolds(tx, account, RESUMED_RESTRAINTS, how));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deps.store.close();
  }

  #judge({ id, kind, isCareful = false }: PlannedDecision): Judgement {
    const [made] = this.#exchange.preOrdersOf(id);
    if (kind === 'retry') return { kind, mayDuplicate: !isCareful };
    if (kind === 'exists' || kind === 'not-created') {
      return made === undefined ? { kind: 'not-created' } : { kind: 'exists', preOrderId: made.id };
    }
    return { kind };
  }
}
