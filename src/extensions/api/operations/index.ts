import type { OperationId } from './addresses.ts';
import { CLIENT_OPERATIONS } from '../../clients/operations.ts';
import type { Operation } from './operation.ts';
import { ORDER_OPERATIONS } from './orders.ts';
import type { READ_OPERATIONS } from './reading.ts';

/** An operation that the owner of the account does, with one answer; `sync` answers in lines. */
export type AskedOperation = Exclude<OperationId, 'sync' | keyof typeof READ_OPERATIONS>;

export const OPERATIONS = {
  ...CLIENT_OPERATIONS,
  ...ORDER_OPERATIONS,
} satisfies Readonly<Record<AskedOperation, Operation>>;

export type InputOf<Id extends AskedOperation> = Parameters<(typeof OPERATIONS)[Id]['run']>[1];
