import type { AskedOperation } from '../api/operation.ts';
import type { OPERATIONS } from './operations.ts';

function loading<Id extends keyof typeof OPERATIONS>(id: Id): () => Promise<(typeof OPERATIONS)[Id]> {
  return async () => (await import('./operations.ts')).OPERATIONS[id];
}

const absent = 'no customer, or no link,';

export const CLIENT_OPERATIONS = {
  createLink: { method: 'POST', url: '/clients', rest: 'body', load: loading('createLink') },
  validateEmail: { method: 'POST', url: '/clients/validate', rest: 'body', load: loading('validateEmail') },
  showLink: { method: 'GET', url: '/clients/:linkId', load: loading('showLink') },
  followLink: { method: 'POST', url: '/clients/:linkId/follow', rest: 'body', load: loading('followLink') },
  verificationToken: { method: 'GET', url: '/clients/:linkId/idv/:level', load: loading('verificationToken') },
  requestPhotos: { method: 'POST', url: '/clients/:linkId/idv/photos', rest: 'body', load: loading('requestPhotos') },
  showCustomer: { method: 'GET', url: '/clients/:linkId/customer', absent, load: loading('showCustomer') },
  listCards: { method: 'GET', url: '/clients/:linkId/cards', absent, load: loading('listCards') },
  sdkToken: { method: 'POST', url: '/clients/:linkId/sdk-token', load: loading('sdkToken') },
  listLinks: { method: 'GET', url: '/links', rest: 'query', load: loading('listLinks') },
} as const satisfies Readonly<Record<string, AskedOperation>>;
