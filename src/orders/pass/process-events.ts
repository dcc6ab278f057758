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
  /** The id of the order or link, if the failure concerns only this order or link. */
  readonly subject?: string | undefined;
  /** The kind of the cause, if the cause stops all orders of the account. */
  readonly kind?: 'exchange' | 'database' | RestraintKind | undefined;
}

export interface LiveAccount {
  readonly exchange: Pick<OrderExchange, 'breaker' | 'isSilent'>;
  readonly restraints: { readonly all: readonly Restraint[]; readonly keyUntriedSince?: Date | undefined; now(): Date };
  readonly accountLease: Pick<AccountLease, 'isTrusted' | 'failure'>;
}

/** Look-ups that have been due for longer than `overdueAfterMs` of the pace; `since` is the first due time. */
export interface OverdueLookups {
  readonly orders: number;
  readonly since: Date;
}

/** An event in a process that owns an account. No decision depends on these events. */
export type ProcessEvent =
  | RequestEvent
  | { readonly kind: 'account.wired'; readonly live: LiveAccount }
  | { readonly kind: 'pass.wanted' | 'pass.began'; readonly pass: string }
  | { readonly kind: 'pass.ended'; readonly pass: string; readonly tookMs: number; readonly isGood: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** A request failed at the exchange. Unlike `failed`, this event is not logged. */
  | { readonly kind: 'exchange.failed'; readonly cause: string }
  | { readonly kind: 'exchange.served' }
  /** `place` is the file or setting that has the key. */
  | { readonly kind: 'key.refused'; readonly place: string }
  /** A look-up saw a change `lateMs` after the exchange had made the change. */
  | { readonly kind: 'change.seen'; readonly lateMs: number }
  | { readonly kind: 'followed.read'; readonly overdue: OverdueLookups | undefined }
  | { readonly kind: 'record.read' }
  | { readonly kind: 'record.unreadable'; readonly externalOrderId: string }
  /** No order or link of the account had this status before. */
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
  /** Must return quickly, because the account waits for each listener. */
  hear(event: ProcessEvent): void;
  eachSecond?(): Promise<void>;
  close?(): void;
}

export type Listen = (account: HeardAccount) => Promise<Listener>;

/** Opens the listeners of an account. If none are given, failures and new statuses are logged. */
export async function openListeners(account: HeardAccount, given: readonly Listen[] = []) {
  using undo = new DisposableStack();
  const all: Listener[] = [];
  for (const listen of given.length === 0 ? [logFailures] : given) {
    all.push(undo.adopt(await listen(account), (listener) => listener.close?.()));
  }
  const disposal = undo.move();
  return {
    tell: (event: ProcessEvent): void => {
      for (const listener of all) listener.hear(event);
    },
    eachSecond: async (): Promise<void> => {
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
