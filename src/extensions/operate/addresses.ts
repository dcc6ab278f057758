import type { AskedOperation, ReadAddress } from '../api/operation.ts';
import type { DECISIONS } from './decisions.ts';

function deciding<Id extends keyof typeof DECISIONS>(id: Id): () => Promise<(typeof DECISIONS)[Id]> {
  return async () => (await import('./decisions.ts')).DECISIONS[id];
}

const read = async () => (await import('./operations.ts')).OPERATIONS;
const reading = { method: 'GET', scopes: ['read'], rest: 'query' } as const;
const decision = { method: 'POST', scopes: ['decide'], rest: 'body' } as const;

export const OPERATE_OPERATIONS = {
  showOrder: { ...reading, url: '/orders/:externalOrderId', read: async () => (await read()).showOrder },
  listOrders: { ...reading, url: '/merchant-orders', read: async () => (await read()).listOrders },
  listFindings: { ...reading, url: '/findings', read: async () => (await read()).listFindings },
  resolveOrder: { ...decision, url: '/orders/:externalOrderId/resolve', load: deciding('resolveOrder') },
  retryOrder: { ...decision, url: '/orders/:externalOrderId/retry', load: deciding('retryOrder') },
  cancelOrder: {
    ...decision,
    scopes: ['orders', 'decide'],
    url: '/orders/:externalOrderId/cancel',
    load: deciding('cancelOrder'),
  },
  acknowledgeFinding: { ...decision, url: '/findings/:id/acknowledge', load: deciding('acknowledgeFinding') },
  pause: { ...decision, url: '/pause', load: deciding('pause') },
  resume: { ...decision, url: '/resume', load: deciding('resume') },
} as const satisfies Readonly<Record<string, AskedOperation | ReadAddress>>;
