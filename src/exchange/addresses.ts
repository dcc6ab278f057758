/** The addresses of §4 begin with one of these. */
export const CLIENTS = '/api/v1/merchant/client';
export const ORDERS = '/api/v1/merchant/orders';
