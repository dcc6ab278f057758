import type { AskedOperation } from '../api/operation.ts';

const load = async () => (await import('./operations.ts')).OPERATIONS;

export const INTAKE_OPERATIONS = {
  addOrder: { method: 'POST', url: '/orders', rest: 'body', load: async () => (await load()).addOrder },
  adoptOrder: { method: 'POST', url: '/orders/adopt', rest: 'body', load: async () => (await load()).adoptOrder },
  probe: { method: 'POST', url: '/probe', rest: 'body', load: async () => (await load()).probe },
} as const satisfies Readonly<Record<string, AskedOperation>>;
