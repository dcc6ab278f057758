import type { Extension } from '../../cli/extension.ts';
import { CLIENT_OPERATIONS } from './addresses.ts';

const operations = () => import('./commands/operations.ts');
const remembered = () => import('./commands/remembered.ts');

/** Client links, identity verification, cards, SDK tokens and photos. */
export const clients: Extension = {
  name: 'clients',
  settings: async () => (await import('./settings.ts')).clientsSettings,
  parts: async () => ({ sweeps: [(await import('./links.ts')).linksSweep] }),
  service: async () => (await import('./photo-receiver.ts')).clientsService,
  operations: CLIENT_OPERATIONS,
  commands: {
    'Every day:': {
      exchange: {
        text: 'asks the exchange about orders, clients and cards',
        example: 'order-sync exchange lookup shop-1001',
        isOfClients: true,
        commands: {
          lookup: ['shows an order record as the exchange answers now', operations, 'one'],
          'pre-order': {
            text: 'pre-orders at the exchange',
            example: 'order-sync exchange pre-order show 4be1c7',
            commands: { show: ['shows a pre-order as the exchange answers now', operations, 'one'] },
          },
          client: {
            text: 'clients and their links at the exchange',
            example: 'order-sync exchange client show 7f1c2a',
            commands: {
              create: ['makes a link for a client, and remembers it', operations, 'one'],
              validate: ['asks whether a link could be made', operations, 'one'],
              show: ['shows a link as the exchange answers now', operations, 'one'],
              follow: ['remembers a link; the daemon follows its status', operations, 'one'],
            },
          },
          idv: {
            text: 'identity verification of clients',
            example: 'order-sync exchange idv token 7f1c2a --level MAIN',
            commands: {
              token: ['gets a token for a verification flow; it is a secret', operations, 'one'],
              photos: ['asks for the delivery of verification photos', operations, 'one'],
            },
          },
          customer: {
            text: 'clients at the card-payment provider',
            example: 'order-sync exchange customer cards 7f1c2a',
            commands: {
              show: ['shows the customer record of a link; personal data', operations, 'one'],
              cards: ['shows the saved cards of a link', operations, 'one'],
            },
          },
          'sdk-token': ['gets a short-lived SDK token for a link; it is a secret', operations, 'one'],
          links: ['lists the newest remembered client links', remembered, 'one-or-all'],
          photos: {
            text: 'photos that the exchange has delivered',
            example: 'order-sync exchange photos list',
            commands: {
              list: ['lists the newest photos', remembered, 'one-or-all'],
              purge: ['deletes photos for good, files and rows', remembered, 'one'],
            },
          },
        },
      },
    },
  },
};
