import type { Scope } from '../api/caller.ts';
import type { AskedOperation, ReadAddress } from '../api/operation.ts';
import type { DECISIONS } from './decisions.ts';
import type { OPERATIONS } from './operations.ts';

function reading(id: keyof typeof OPERATIONS, url: string): ReadAddress {
  const read = async () => (await import('./operations.ts')).OPERATIONS[id];
  return { method: 'GET', scopes: ['read'], url, rest: 'query', read };
}

function deciding<Id extends keyof typeof DECISIONS>(id: Id, url: string, scopes: readonly Scope[] = ['decide']) {
  const load = async () => (await import('./decisions.ts')).DECISIONS[id];
  return { method: 'POST', scopes, url, rest: 'body', load } as const;
}

export const OPERATE_OPERATIONS = {
  showOrder: reading('showOrder', '/orders/:externalOrderId'),
  listOrders: reading('listOrders', '/merchant-orders'),
  listFindings: reading('listFindings', '/findings'),
  resolveOrder: deciding('resolveOrder', '/orders/:externalOrderId/resolve'),
  retryOrder: deciding('retryOrder', '/orders/:externalOrderId/retry'),
  cancelOrder: deciding('cancelOrder', '/orders/:externalOrderId/cancel', ['orders', 'decide']),
  acknowledgeFinding: deciding('acknowledgeFinding', '/findings/:id/acknowledge'),
  pause: deciding('pause', '/pause'),
  resume: deciding('resume', '/resume'),
} satisfies Readonly<Record<string, AskedOperation | ReadAddress>>;
