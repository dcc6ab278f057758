// Exit 0 when the daemon of ORDER_SYNC_DATABASE_URL answers on its control socket and reads its database, else 1. Of the
// exchange, and of orders that wait, it says nothing.
import { get } from 'node:http';

const socketPath = `${process.env.ORDER_SYNC_DATABASE_URL?.replace(/^sqlite:/, '')}.sock`;
get({ socketPath, path: '/links?limit=1' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on(
  'error',
  ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  },
);
