import type { Extension } from '../../cli/extension.ts';

export const postgres: Extension = {
  name: 'postgres',
  settings: async () =>
    (await import('./place/settings.ts')).settingsWith(async () => (await import('./driver.ts')).driver),
  service: async () => (await import('./service.ts')).postgresService,
  commands: {
    'More commands:': {
      db: { commands: { copy: ['moves a SQLite database to PostgreSQL', () => import('./move/command.ts')] } },
    },
  },
};
