import type { AskedOperation } from '../api/operation.ts';

const load = async () => (await import('./operations.ts')).OPERATIONS;

const scopes = ['orders'] as const;

export const INTAKE_OPERATIONS = {
  addOrder: { method: 'POST', scopes, url: '/orders', rest: 'body', load: async () => (await load()).addOrder },
  adoptOrder: {
    method: 'POST',
    scopes,
    url: '/orders/adopt',
    rest: 'body',
    load: async () => (await load()).adoptOrder,
  },
  probe: { method: 'POST', scopes: ['decide'], url: '/probe', rest: 'body', load: async () => (await load()).probe },
} as const satisfies Readonly<Record<string, AskedOperation>>;
