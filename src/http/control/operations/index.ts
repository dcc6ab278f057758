import type { OperationId } from './addresses.ts';
import { CLIENT_OPERATIONS } from './clients.ts';
import type { Operation } from './operation.ts';
import { ORDER_OPERATIONS } from './orders.ts';
import { PROBE_OPERATIONS } from './probe.ts';

/** An operation that has one answer; `sync` answers in lines. */
export type AskedOperation = Exclude<OperationId, 'sync'>;

/** The descriptions of all operations that have one answer, by their ids. */
export const OPERATIONS = {
  ...CLIENT_OPERATIONS,
  ...ORDER_OPERATIONS,
  ...PROBE_OPERATIONS,
} satisfies Readonly<Record<AskedOperation, Operation>>;

/** The fields that an operation takes. */
export type InputOf<Id extends AskedOperation> = Parameters<(typeof OPERATIONS)[Id]['run']>[1];
