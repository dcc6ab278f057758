import type { Extension } from '../../cli/extension.ts';
import { INTAKE_OPERATIONS } from './addresses.ts';

const insert = () => import('./commands/insert.ts');

export const intake: Extension = {
  name: 'intake',
  dryRun: async () => (await import('./commands/dry-run.ts')).showDryRun,
  settings: async () => (await import('./settings.ts')).intakeSettings,
  service: async () => (await import('./retention.ts')).intakeService,
  operations: INTAKE_OPERATIONS,
  commands: {
    'Every day:': {
      orders: {
        commands: {
          add: ['inserts one order', insert, 'one'],
          import: ['inserts the rows of a file, all or none', insert, 'one'],
          adopt: ['takes over orders that exist at the exchange', () => import('./commands/adopt.ts'), 'one'],
        },
      },
    },
    'More commands:': {
      probe: ['asks the exchange what its document leaves open', () => import('./probe/command.ts'), 'one'],
    },
  },
};
