import { STATUS } from '../api/addresses.ts';
import type { ReadAddress } from '../api/operation.ts';

export const HEALTH_OPERATIONS = {
  status: { ...STATUS, read: async () => (await import('./operations.ts')).OPERATIONS.status },
  explainOrder: {
    method: 'GET',
    scopes: ['read'],
    url: '/orders/:externalOrderId/explanation',
    rest: 'query',
    read: async () => (await import('./operations.ts')).OPERATIONS.explainOrder,
  },
} as const satisfies Readonly<Record<string, ReadAddress>>;
