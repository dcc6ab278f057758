import type { ReadAddress } from '../api/operation.ts';

export const STATUS = {
  method: 'GET',
  url: '/status',
  rest: 'query',
  read: async () => (await import('./operations.ts')).OPERATIONS.status,
} as const satisfies ReadAddress;
