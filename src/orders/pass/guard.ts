import type { Config } from '../../settings/config.ts';
import type { Database, Transaction } from '../../store/port.ts';
import type { MerchantOrder } from '../rules/record.ts';
import type { AccountRestraints } from './restraints.ts';

/** This create waits, because the outcome of another create decides if this create may be sent. */
export interface GuardWait {
  readonly kind: 'wait';
  readonly outcome: Promise<void>;
}

/** `guarded`: no create is sent until a person runs `resume`. */
type Guarded = { readonly kind: 'free' } | { readonly kind: 'guarded'; readonly reason: string } | GuardWait;

export interface GuardedCreate extends Disposable {
  /** Decides in the transaction of the intent, and again if that transaction runs again. */
  decide(tx: Transaction, order: MerchantOrder): Promise<Guarded>;
  /** False while it is certain that the exchange has not taken the create. */
  mayBeTaken: boolean;
}

export interface CreateGuard {
  begin(): GuardedCreate;
}

export interface GuardDeps {
  readonly account: string;
  readonly config: Pick<Config, 'exchange'>;
  readonly restraints: Pick<AccountRestraints, 'all' | 'now'>;
}

/** Makes the guard that limits an account's creates. Creates of the account's earlier owners count too. */
export type GuardMaker = (deps: GuardDeps, db: Database) => Promise<CreateGuard>;

export const NO_GUARD: CreateGuard = {
  begin: () => ({ mayBeTaken: false, decide: async () => ({ kind: 'free' }), [Symbol.dispose]() {} }),
};
