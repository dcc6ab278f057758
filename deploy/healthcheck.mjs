// Exit 0 when the daemon answers on its control socket and reads its database, else 1. Of the exchange, and of orders that
// wait, it says nothing. The socket is that of ORDER_SYNC_CONTROL_SOCKET, or of the SQLite file of ORDER_SYNC_DATABASE_URL.
import { get } from 'node:http';

const { ORDER_SYNC_CONTROL_SOCKET: named, ORDER_SYNC_DATABASE_URL: url } = process.env;
const socketPath = named ?? `${url?.replace(/^sqlite:/, '')}.sock`;
// 421: this daemon does not drive the account `default`, and it lives.
const HEALTHY = [200, 421];
get({ socketPath, path: '/links?limit=1' }, ({ statusCode }) => process.exit(HEALTHY.includes(statusCode) ? 0 : 1)).on(
  'error',
  ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  },
);
