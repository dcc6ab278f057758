import type { AskedOperation, OperationAddress } from './operation.ts';

const load = async () => (await import('./exchange-operations.ts')).OPERATIONS;

/** One pass: it answers in lines. */
export const SYNC = { method: 'POST', url: '/sync', rest: 'query' } as const satisfies OperationAddress;

export const EXCHANGE_OPERATIONS = {
  lookUpOrder: { method: 'GET', url: '/orders', rest: 'query', load: async () => (await load()).lookUpOrder },
  showPreOrder: { method: 'GET', url: '/pre-orders/:id', load: async () => (await load()).showPreOrder },
} as const satisfies Readonly<Record<string, AskedOperation>>;

/** How the process does. The extension `health` answers. */
export const STATUS = { method: 'GET', url: '/status', rest: 'query' } as const satisfies OperationAddress;
