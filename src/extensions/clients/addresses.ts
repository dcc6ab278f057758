import type { AskedOperation } from '../api/operation.ts';

const load = async () => (await import('./operations.ts')).OPERATIONS;

export const CLIENT_OPERATIONS = {
  createLink: { method: 'POST', url: '/clients', rest: 'body', load: async () => (await load()).createLink },
  validateEmail: {
    method: 'POST',
    url: '/clients/validate',
    rest: 'body',
    load: async () => (await load()).validateEmail,
  },
  showLink: { method: 'GET', url: '/clients/:linkId', load: async () => (await load()).showLink },
  followLink: {
    method: 'POST',
    url: '/clients/:linkId/follow',
    rest: 'body',
    load: async () => (await load()).followLink,
  },
  verificationToken: {
    method: 'GET',
    url: '/clients/:linkId/idv/:level',
    load: async () => (await load()).verificationToken,
  },
  requestPhotos: {
    method: 'POST',
    url: '/clients/:linkId/idv/photos',
    rest: 'body',
    load: async () => (await load()).requestPhotos,
  },
  showCustomer: {
    method: 'GET',
    url: '/clients/:linkId/customer',
    absent: 'no customer, or no link,',
    load: async () => (await load()).showCustomer,
  },
  listCards: {
    method: 'GET',
    url: '/clients/:linkId/cards',
    absent: 'no customer, or no link,',
    load: async () => (await load()).listCards,
  },
  sdkToken: { method: 'POST', url: '/clients/:linkId/sdk-token', load: async () => (await load()).sdkToken },
  listLinks: { method: 'GET', url: '/links', rest: 'query', load: async () => (await load()).listLinks },
} as const satisfies Readonly<Record<string, AskedOperation>>;
