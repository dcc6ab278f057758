import { hash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sqlitePath, type Config } from '../../../settings/config.ts';
import { apiSettings } from '../settings.ts';
import { messageOf } from '../../../base/text.ts';
import { StoreError } from '../../../store/errors.ts';
import type { OperationAddress } from '../operation.ts';

/** The error when no process listens on the control socket, or one that does not drive the account: nothing was done. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
}

/** One request to the owner; `path` is encoded and has its query. */
export interface OwnerRequest {
  readonly method: OperationAddress['method'];
  readonly path: string;
  /** JSON text. */
  readonly body: string | undefined;
}

/** An answer of the owner, whose body may still be on its way. */
export interface OwnerReply {
  readonly httpStatus: number;
  readonly retryAfterSeconds: number;
  text(): Promise<string>;
  /** The lines of the body as they come. A reader that has read enough ends what was asked for. */
  lines(): AsyncIterable<string>;
}

export interface Transport {
  /** Rejects with `NoOwnerError` or `CommandError` if nothing was asked; after any other error the outcome is unknown. `signal` takes the request back. */
  send(request: OwnerRequest, signal: AbortSignal): Promise<OwnerReply>;
}

const CONNECT_MS = 10_000;

export function socketTransport(socketPath: string): Transport {
  return {
    async send(asked, signal) {
      if (!existsSync(socketPath)) throw new NoOwnerError('no order-sync process listens');
      return await sendTo('http://localhost', asked, signal, { socketPath });
    },
  };
}

type SendOptions = Readonly<{ socketPath?: string; headers?: Readonly<Record<string, string>> }>;

/** Sends one request. Rejects with `NoOwnerError`, whose cause says why, if no connection was made: nothing was sent then. */
export async function sendTo(
  url: string,
  asked: OwnerRequest,
  signal: AbortSignal,
  options: SendOptions,
): Promise<OwnerReply> {
  const response = await responseOf(url, asked, signal, options);
  return {
    httpStatus: response.statusCode ?? 0,
    retryAfterSeconds: Number(response.headers['retry-after'] ?? 0),
    text: async () => Buffer.concat((await response.toArray()) as Buffer[]).toString(),
    async *lines() {
      try {
        for await (const line of createInterface({ input: response })) if (line !== '') yield line;
      } finally {
        // A reader that has read enough does not hear that the owner broke the answer off.
        response.destroy();
      }
    },
  };
}

function responseOf(
  url: string,
  { method, path, body }: OwnerRequest,
  signal: AbortSignal,
  { socketPath, headers }: SendOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:');
    // To import the module would load the `WebSocket` that it exports too: that takes longer than to ask.
    const { request } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    // A connection that was kept may be closed just when it is used again: then nobody could tell what was done.
    // The certificate is checked whatever NODE_TLS_REJECT_UNAUTHORIZED says: a token is sent.
    const once = { agent: false, timeout: CONNECT_MS, rejectUnauthorized: true };
    const call = request(`${url}${path}`, { ...once, socketPath, method, signal, headers: { ...headers, ...type } });
    let isConnected = false;
    call.on('response', resolve);
    call.on('socket', (socket) =>
      // Nothing leaves before the certificate of the other side was checked.
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        isConnected = true;
        call.end(body);
      }),
    );
    call.on('timeout', () => isConnected || call.destroy(new Error('it takes no connection')));
    call.on('error', (error) =>
      reject(
        isConnected || signal.aborted ? error : new NoOwnerError('no order-sync process listens', { cause: error }),
      ),
    );
  });
}

/** The shortest limit of a socket's path on any system is 104 bytes, with a zero at its end. */
const LONGEST_PATH_BYTES = 103;

export function unusableSocket(path: string, error: unknown): StoreError {
  const message = `no control socket can be made at ${path} (${messageOf(error)}); set control.socket to a path of at most ${LONGEST_PATH_BYTES} bytes, in a folder that this user can write to`;
  return new StoreError('disk', message, { cause: error });
}

export function controlSocketOf(config: Pick<Config, 'database'>): string {
  return apiSettings.of(config).control.socket ?? controlSocketPath(sqlitePath(config, 'use sqlite:PATH'));
}

/** Beside the database, or, if that path is too long for a socket, in this user's temporary folder by a name made from the path. */
export function controlSocketPath(databasePath: string): string {
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= LONGEST_PATH_BYTES) return beside;
  const name = hash('sha256', databasePath).slice(0, 24);
  return join(socketFolder(), `${name}.sock`);
}

export function socketFolder(): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `order-sync-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} must be a folder that only this user can open; remove it, or shorten the database's path`,
    );
  }
  return folder;
}
