import type { ExchangeClient } from '../exchange/client.ts';
import type { FlowDeps } from '../orders/pass/deps.ts';

/** The parts of an account that its operations use. */
export interface OperationDeps extends FlowDeps {
  readonly exchange: ExchangeClient;
  /** Wakes the create pass: orders were put in, and need not wait for the next tick. */
  readonly wakeCreates: () => void;
}

/** An account that is in use, until this is disposed of: it is not stopped meanwhile, unless the process stops. */
export interface AccountInUse extends Disposable {
  readonly app: OperationDeps;
}
