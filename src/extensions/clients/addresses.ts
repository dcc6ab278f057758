import type { AskedOperation } from '../api/operation.ts';
import type { OPERATIONS } from './operations.ts';

function loading<Id extends keyof typeof OPERATIONS>(id: Id): () => Promise<(typeof OPERATIONS)[Id]> {
  return async () => (await import('./operations.ts')).OPERATIONS[id];
}

const absent = 'no customer, or no link,';
const asked = { method: 'GET', scopes: ['clients'] } as const;
const posted = { method: 'POST', scopes: ['clients'], rest: 'body' } as const;

export const CLIENT_OPERATIONS = {
  createLink: { ...posted, url: '/clients', load: loading('createLink') },
  validateEmail: { ...posted, url: '/clients/validate', load: loading('validateEmail') },
  showLink: { ...asked, url: '/clients/:linkId', load: loading('showLink') },
  followLink: { ...posted, url: '/clients/:linkId/follow', load: loading('followLink') },
  verificationToken: { ...asked, url: '/clients/:linkId/idv/:level', load: loading('verificationToken') },
  requestPhotos: { ...posted, url: '/clients/:linkId/idv/photos', load: loading('requestPhotos') },
  showCustomer: { ...asked, url: '/clients/:linkId/customer', absent, load: loading('showCustomer') },
  listCards: { ...asked, url: '/clients/:linkId/cards', absent, load: loading('listCards') },
  sdkToken: { ...asked, method: 'POST', url: '/clients/:linkId/sdk-token', load: loading('sdkToken') },
  listLinks: { ...asked, url: '/links', rest: 'query', load: loading('listLinks') },
} as const satisfies Readonly<Record<string, AskedOperation>>;
