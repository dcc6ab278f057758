import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';

/** Nobody listens on the control socket. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
}

const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/**
 * Calls the owner over its control socket and gives each line of its answer as parsed JSON. Rejects with `NoOwnerError`
 * when there is no owner to call.
 */
export async function* callOwner(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  signal?: AbortSignal,
): AsyncGenerator<unknown> {
  const response = await send(socketPath, method, path, signal);
  for await (const text of createInterface({ input: response })) {
    if (text !== '') yield JSON.parse(text) as unknown;
  }
}

function send(socketPath: string, method: string, path: string, signal?: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, ...(signal === undefined ? {} : { signal }) }, resolve);
    call.on('error', (error: NodeJS.ErrnoException) => {
      const isNobody = NOBODY.includes(error.code ?? '');
      reject(isNobody ? new NoOwnerError('no order-sync process listens', { cause: error }) : error);
    });
    call.end();
  });
}
