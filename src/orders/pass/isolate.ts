import { after } from '../../base/instant.ts';
import { isUnlisted, RowLockedError, StoreError } from '../../store/errors.ts';
import { postpone } from '../../store/orders/orders.ts';
import type { FlowDeps } from './deps.ts';
import { countFailureOf } from './outcomes.ts';

export type IsolateDeps = Pick<FlowDeps, 'account' | 'store' | 'clock' | 'observers'>;

export const POSTPONE_MS = 5 * 60_000;

/** Works on one order. If the database refuses the write, reports the failure and postpones the order by 5 min. */
export async function isolateFailure(deps: IsolateDeps, externalOrderId: string, work: () => Promise<void>) {
  const { account, store, clock, observers } = deps;
  try {
    await work();
    observers.tell({ kind: 'order.written', externalOrderId });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = 'an order cannot be written, so it is skipped for now; look at its row and its triggers';
    countFailureOf(observers, externalOrderId, message, error.message);
    // A write that postpones the order would wait for the same lock.
    if (error instanceof RowLockedError) return;
    observers.tell({ kind: 'order.unwritten', externalOrderId, cause: error.message });
    const until = after(clock.now(), POSTPONE_MS);
    await store.writer
      .write((tx) => postpone(tx, { account, externalOrderId, until }))
      .catch((again: unknown) => {
        if (!isRefusal(again)) throw again;
      });
  }
}

/** True if the error may concern a single order, so that other orders can be written. */
export function isRefusal(error: unknown): error is Error {
  const isRefused = error instanceof StoreError && error.problem === 'refused';
  return isRefused || error instanceof RowLockedError || isUnlisted(error);
}
