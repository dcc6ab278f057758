import type { Extension } from '../../cli/extension.ts';
import { HEALTH_OPERATIONS } from './addresses.ts';

export const health: Extension = {
  name: 'health',
  settings: async () => (await import('./settings.ts')).healthSettings,
  parts: async () => ({ listeners: [(await import('./incidents.ts')).Incidents.open] }),
  service: async () => (await import('./service.ts')).healthService,
  operations: HEALTH_OPERATIONS,
  commands: {
    'Every day:': {
      status: ['shows how orders, daemon and exchange do', () => import('./status/command.ts'), 'one-or-all'],
      doctor: [
        'checks the set-up, and says how to correct each fault',
        () => import('./doctor/doctor.ts'),
        'one-or-all',
      ],
    },
  },
};
