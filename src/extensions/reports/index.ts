import type { Extension } from '../../cli/extension.ts';

const tables = () => import('./commands/reports.ts');
const exported = () => import('./commands/export.ts');
const story = () => import('./commands/explain.ts');
const reconciliation = () => import('./commands/reconciliation.ts');

export const reports: Extension = {
  name: 'reports',
  commands: {
    'Every day:': {
      orders: {
        commands: {
          export: ['writes orders with every field of the exchange', exported, 'one-or-all'],
          explain: ['tells the story of one order, and what happens next', story, 'one'],
        },
      },
      report: {
        text: 'reports from the database',
        example: 'order-sync report summary',
        commands: {
          summary: ['counts and exact sums by pair, state and status', tables, 'one-or-all'],
          reconciliation: ['our orders beside those of the exchange, to the last digit', reconciliation, 'one-or-all'],
          ageing: ['how long orders have been in their state; the oldest', tables, 'one-or-all'],
          changes: ['every change of a period, in order', tables, 'one-or-all'],
        },
      },
    },
  },
};
