import { workerData, type MessagePort } from 'node:worker_threads';
import pg from 'pg';
import type { MerchantAnswer, MerchantRequest } from './merchant-postgres.ts';

/** Longer than any transaction of a test; the thread that waits here could be the one that should end it. */
const LOCK_TIMEOUT_MS = 5_000;
const NUMBERS = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

for (const type of NUMBERS) pg.types.setTypeParser(type, Number);
pg.types.setTypeParser(pg.types.builtins.BOOL, (value) => (value === 't' ? 1 : 0));

const { port, answered } = workerData as { port: MessagePort; answered: Int32Array };
const connections = new Map<number, pg.Client>();

port.on('message', (request: MerchantRequest) => {
  void answer(request).then((given) => {
    port.postMessage(given);
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });
});

async function answer(request: MerchantRequest): Promise<MerchantAnswer> {
  try {
    const result = await run(request);
    const { fields = [], rows = [], rowCount } = result ?? {};
    return { columns: fields.map(({ name }) => name), rows, changes: rowCount ?? 0 };
  } catch (error) {
    const { message, code } = error as pg.DatabaseError;
    return { columns: [], rows: [], changes: 0, error: { message, ...(code !== undefined && { code }) } };
  }
}

async function run(request: MerchantRequest): Promise<pg.QueryArrayResult<unknown[]> | undefined> {
  if (request.kind === 'open') {
    const client = new pg.Client({ ...request.config, lock_timeout: LOCK_TIMEOUT_MS });
    // A server that ends is heard of at the next query.
    client.on('error', () => undefined);
    await client.connect();
    connections.set(request.connection, client);
    return undefined;
  }
  const client = connections.get(request.connection);
  if (client === undefined) throw new Error('the connection is closed');
  if (request.kind === 'close') {
    connections.delete(request.connection);
    await client.end();
    return undefined;
  }
  const { text, values } = request;
  const results = await client.query<unknown[]>({
    text,
    rowMode: 'array',
    ...(values !== undefined && { values: [...values] }),
  });
  // Several statements give several results.
  return Array.isArray(results) ? (results as pg.QueryArrayResult<unknown[]>[]).at(-1) : results;
}
