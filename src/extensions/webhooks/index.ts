import type { Extension } from '../../cli/extension.ts';

const commands = () => import('./commands.ts');

export const webhooks: Extension = {
  name: 'webhooks',
  settings: async () => (await import('./settings.ts')).webhooksSettings,
  service: async () => (await import('./webhooks.ts')).webhooksService,
  commands: {
    'More commands:': {
      webhooks: {
        text: 'the receivers of events, their state and their refused events',
        example: 'order-sync webhooks list',
        commands: {
          list: ['lists the endpoints, with the state of each', commands],
          show: ['shows the events that an endpoint has refused, and its dead letters', commands],
          resend: ['sends dead letters or other events once more', commands, 'one'],
          test: ['sends one message to an endpoint, to try it', commands],
          verify: ['checks the signature of a received message', commands],
        },
      },
    },
  },
};
