export interface OperationAddress {
  readonly method: 'GET' | 'POST';
  /** A `:name` stands for a field of the input. */
  readonly url: string;
  /** The part of the request that carries the other fields of the input. */
  readonly rest?: 'query' | 'body';
}

/** Descriptions are in other files, so that a command beside a daemon need not load them. */
export const ADDRESSES = {
  createLink: { method: 'POST', url: '/clients', rest: 'body' },
  validateEmail: { method: 'POST', url: '/clients/validate', rest: 'body' },
  showLink: { method: 'GET', url: '/clients/:linkId' },
  followLink: { method: 'POST', url: '/clients/:linkId/follow', rest: 'body' },
  verificationToken: { method: 'GET', url: '/clients/:linkId/idv/:level' },
  requestPhotos: { method: 'POST', url: '/clients/:linkId/idv/photos', rest: 'body' },
  showCustomer: { method: 'GET', url: '/clients/:linkId/customer' },
  listCards: { method: 'GET', url: '/clients/:linkId/cards' },
  sdkToken: { method: 'POST', url: '/clients/:linkId/sdk-token' },
  addOrder: { method: 'POST', url: '/orders', rest: 'body' },
  adoptOrder: { method: 'POST', url: '/orders/adopt', rest: 'body' },
  showOrder: { method: 'GET', url: '/orders/:externalOrderId' },
  lookUpOrder: { method: 'GET', url: '/orders', rest: 'query' },
  showPreOrder: { method: 'GET', url: '/pre-orders/:id' },
  probe: { method: 'POST', url: '/probe', rest: 'body' },
  listEvents: { method: 'GET', url: '/events', rest: 'query' },
  listLinks: { method: 'GET', url: '/links', rest: 'query' },
  status: { method: 'GET', url: '/status', rest: 'query' },
  sync: { method: 'POST', url: '/sync', rest: 'query' },
} as const satisfies Readonly<Record<string, OperationAddress>>;

export type OperationId = keyof typeof ADDRESSES;
