import type { AskedOperation } from '../api/operation.ts';

const load = async () => (await import('./operations.ts')).OPERATIONS;
const adding = { method: 'POST', scopes: ['orders'], rest: 'body' } as const;

export const INTAKE_OPERATIONS = {
  addOrder: { ...adding, url: '/orders', load: async () => (await load()).addOrder },
  adoptOrder: { ...adding, url: '/orders/adopt', load: async () => (await load()).adoptOrder },
  probe: { ...adding, scopes: ['decide'], url: '/probe', load: async () => (await load()).probe },
} as const satisfies Readonly<Record<string, AskedOperation>>;
