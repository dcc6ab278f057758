import type { AskedOperation } from './operation.ts';

const load = async () => (await import('./exchange-operations.ts')).OPERATIONS;
const reading = { method: 'GET', scopes: ['read'] } as const;

/** `sync` runs one pass and answers in lines of JSON. */
export const SYNC = { method: 'POST', scopes: ['orders'], url: '/sync', rest: 'query' } as const;

export const EXCHANGE_OPERATIONS = {
  lookUpOrder: { ...reading, url: '/orders', rest: 'query', load: async () => (await load()).lookUpOrder },
  showPreOrder: { ...reading, url: '/pre-orders/:id', load: async () => (await load()).showPreOrder },
} as const satisfies Readonly<Record<string, AskedOperation>>;

/** The extension `health` answers `GET /status`. */
export const STATUS = { ...reading, url: '/status', rest: 'query' } as const;
