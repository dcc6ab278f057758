import type { Logger } from 'pino';
import type { Restraint, RestraintKind } from '../../accounts/rules/restraints.ts';
import type { Clock } from '../../base/clock.ts';
import type { RequestEvent } from '../../exchange/account.ts';
import type { OrderExchange } from '../../exchange/client.ts';
import type { AccountLease, Store } from '../../store/port.ts';

export interface Failure {
  readonly message: string;
  readonly cause: string;
  readonly level?: 'warn' | 'error';
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The order or link of which alone the failure speaks. */
  readonly subject?: string | undefined;
  /** The cause that stops all orders of the account, if the failure comes of it. */
  readonly kind?: 'exchange' | 'database' | RestraintKind | undefined;
}

export interface LiveAccount {
  readonly exchange: Pick<OrderExchange, 'breaker' | 'isSilent'>;
  readonly restraints: { readonly all: readonly Restraint[]; readonly keyUntriedSince?: Date | undefined; now(): Date };
  readonly accountLease: Pick<AccountLease, 'isTrusted' | 'failure'>;
}

/** Look-ups that were due before the last tick. */
export interface OverdueLookups {
  readonly orders: number;
  readonly since: Date;
}

/** An event in a process that owns an account. Nothing is decided by it. */
export type ProcessEvent =
  | RequestEvent
  | { readonly kind: 'account.wired'; readonly live: LiveAccount }
  | { readonly kind: 'pass.wanted' | 'pass.began'; readonly pass: string }
  | { readonly kind: 'pass.ended'; readonly pass: string; readonly tookMs: number; readonly isGood: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** A request failed at the exchange and has a line of its own. */
  | { readonly kind: 'exchange.failed'; readonly cause: string }
  | { readonly kind: 'exchange.served' }
  /** `place` has the key. */
  | { readonly kind: 'key.refused'; readonly place: string }
  /** A look-up saw a change so long after it was made. */
  | { readonly kind: 'change.seen'; readonly lateMs: number }
  | { readonly kind: 'followed.read'; readonly overdue: OverdueLookups | undefined }
  | { readonly kind: 'record.read' }
  | { readonly kind: 'record.unreadable'; readonly externalOrderId: string }
  /** No order or link of the account ever had this status. */
  | { readonly kind: 'status.new'; readonly field: string; readonly value: string }
  | { readonly kind: 'order.written'; readonly externalOrderId: string }
  | { readonly kind: 'order.unwritten'; readonly externalOrderId: string; readonly cause: string };

export interface HeardAccount {
  readonly account: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Listener {
  /** It must be quick: the account waits for it. */
  hear(event: ProcessEvent): void;
  eachSecond?(): Promise<void>;
  close?(): void;
}

export type Listen = (account: HeardAccount) => Promise<Listener>;

interface Listeners extends Disposable {
  readonly tell: (event: ProcessEvent) => void;
  readonly eachSecond: () => Promise<void>;
}

/** Makes the listeners of an account. Without any, each failure is logged by itself. */
export async function openListeners(account: HeardAccount, given: readonly Listen[] = []): Promise<Listeners> {
  using undo = new DisposableStack();
  const all: Listener[] = [];
  for (const listen of given.length === 0 ? [logFailures] : given) {
    all.push(undo.adopt(await listen(account), (listener) => listener.close?.()));
  }
  const disposal = undo.move();
  return {
    tell(event) {
      for (const listener of all) listener.hear(event);
    },
    async eachSecond() {
      for (const listener of all) await listener.eachSecond?.();
    },
    [Symbol.dispose]: () => disposal.dispose(),
  };
}

const logFailures: Listen = async ({ log }) => ({
  hear(event) {
    if (event.kind === 'failed') {
      const { message, cause, level = 'warn', facts } = event.failure;
      log[level]({ ...facts, cause }, message);
    }
    if (event.kind === 'status.new') {
      const { field, value } = event;
      log.info({ field, value }, 'the exchange uses a status that was not seen before');
    }
  },
});
