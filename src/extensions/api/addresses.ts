import type { AskedOperation, OperationAddress } from './operation.ts';

const load = async () => (await import('./exchange-operations.ts')).OPERATIONS;

/** One pass: it answers in lines. */
export const SYNC = {
  method: 'POST',
  scopes: ['orders'],
  url: '/sync',
  rest: 'query',
} as const satisfies OperationAddress;

export const EXCHANGE_OPERATIONS = {
  lookUpOrder: {
    method: 'GET',
    scopes: ['read'],
    url: '/orders',
    rest: 'query',
    load: async () => (await load()).lookUpOrder,
  },
  showPreOrder: {
    method: 'GET',
    scopes: ['read'],
    url: '/pre-orders/:id',
    load: async () => (await load()).showPreOrder,
  },
} as const satisfies Readonly<Record<string, AskedOperation>>;

/** How the process does. The extension `health` answers. */
export const STATUS = {
  method: 'GET',
  scopes: ['read'],
  url: '/status',
  rest: 'query',
} as const satisfies OperationAddress;
