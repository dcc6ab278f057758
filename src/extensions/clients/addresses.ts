import type { AskedOperation } from '../api/operation.ts';
import type { OPERATIONS } from './operations.ts';

function loading<Id extends keyof typeof OPERATIONS>(id: Id): () => Promise<(typeof OPERATIONS)[Id]> {
  return async () => (await import('./operations.ts')).OPERATIONS[id];
}

const scopes = ['clients'] as const;
const absent = 'no customer, or no link,';

export const CLIENT_OPERATIONS = {
  createLink: { method: 'POST', scopes, url: '/clients', rest: 'body', load: loading('createLink') },
  validateEmail: { method: 'POST', scopes, url: '/clients/validate', rest: 'body', load: loading('validateEmail') },
  showLink: { method: 'GET', scopes, url: '/clients/:linkId', load: loading('showLink') },
  followLink: { method: 'POST', scopes, url: '/clients/:linkId/follow', rest: 'body', load: loading('followLink') },
  verificationToken: { method: 'GET', scopes, url: '/clients/:linkId/idv/:level', load: loading('verificationToken') },
  requestPhotos: {
    method: 'POST',
    scopes,
    url: '/clients/:linkId/idv/photos',
    rest: 'body',
    load: loading('requestPhotos'),
  },
  showCustomer: { method: 'GET', scopes, url: '/clients/:linkId/customer', absent, load: loading('showCustomer') },
  listCards: { method: 'GET', scopes, url: '/clients/:linkId/cards', absent, load: loading('listCards') },
  sdkToken: { method: 'POST', scopes, url: '/clients/:linkId/sdk-token', load: loading('sdkToken') },
  listLinks: { method: 'GET', scopes, url: '/links', rest: 'query', load: loading('listLinks') },
} as const satisfies Readonly<Record<string, AskedOperation>>;
