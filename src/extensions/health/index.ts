import type { Extension } from '../../cli/extension.ts';
import { STATUS } from '../api/addresses.ts';
import type { ReadAddress } from '../api/operation.ts';

const OPERATIONS = {
  status: { ...STATUS, read: async () => (await import('./operations.ts')).OPERATIONS.status },
  explainOrder: {
    method: 'GET',
    scopes: ['read'],
    url: '/orders/:externalOrderId/explanation',
    rest: 'query',
    read: async () => (await import('./operations.ts')).OPERATIONS.explainOrder,
  },
} as const satisfies Readonly<Record<string, ReadAddress>>;

export const health: Extension = {
  name: 'health',
  settings: async () => (await import('./settings.ts')).healthSettings,
  parts: async () => ({ listeners: [(await import('./incidents.ts')).Incidents.open] }),
  service: async () => (await import('./service.ts')).healthService,
  syncVerdict: async () => (await import('./status/sync-verdict.ts')).syncVerdict,
  operations: OPERATIONS,
  commands: {
    'Every day:': {
      status: ['shows the state of orders, daemon and exchange', () => import('./status/command.ts'), 'one-or-all'],
      doctor: [
        'checks the set-up, and says how to correct each fault',
        () => import('./doctor/doctor.ts'),
        'one-or-all',
      ],
    },
  },
};
