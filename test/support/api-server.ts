import { once } from 'node:events';
import {
  createServer,
  request as ask,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { SELF_SIGNED } from './self-signed.ts';

/** A token that must stand nowhere but in the header of a request. */
export const TOKEN = 'canary-token-0123456789abcdef0123456789';

interface ApiAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StandInApi {
  readonly url: string;
  /** The heads of the requests that came. */
  readonly asked: readonly { readonly method: string; readonly path: string; readonly authorization: string }[];
  /** That of the process behind it. */
  socketPath: string;
  /** Answers in place of the control socket from now on. */
  answer: (() => ApiAnswer) | undefined;
}

/** A failure as the API writes it. */
export function problem(status: number, kind: string, more: object = {}): ApiAnswer {
  const error = { kind, reason: null, message: `refused as ${kind}`, httpStatus: null, code: null, status: null };
  const head = { type: `urn:order-sync:problem:${kind}`, title: kind, status, detail: error.message };
  const body = JSON.stringify({ ...head, ok: false, error, ...more });
  return { status, body, headers: { 'content-type': 'application/problem+json' } };
}

export const notOwner = (owner?: string) => problem(421, 'not-owner', { owner });

/** The API of a process on 127.0.0.1: whoever has the token reaches the control socket. */
export async function standInApi({
  socketPath = '/nowhere/order-sync.sock',
  isSecure = false,
}: { readonly socketPath?: string; readonly isSecure?: boolean } = {}): Promise<StandInApi> {
  const asked: StandInApi['asked'][number][] = [];
  const listener: RequestListener = (request, response) => {
    const { method = '', url: path = '', headers } = request;
    asked.push({ method, path, authorization: headers.authorization ?? '' });
    if (headers.authorization !== `Bearer ${TOKEN}`) return write(response, problem(401, 'unauthorized'));
    if (api.answer !== undefined) return write(response, api.answer());
    pass(request, response, api.socketPath);
  };
  const server = isSecure ? createSecure(SELF_SIGNED, listener) : createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const api: StandInApi = {
    url: `http${isSecure ? 's' : ''}://127.0.0.1:${port}`,
    asked,
    socketPath,
    answer: undefined,
  };
  return api;
}

function write(response: ServerResponse, { status, body = '', headers = {} }: ApiAnswer): void {
  response.writeHead(status, headers).end(body);
}

function pass(request: IncomingMessage, response: ServerResponse, socketPath: string): void {
  const { method = '', url: path = '', headers } = request;
  const passed = ask({ socketPath, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  // Who asks sees a connection that breaks.
  passed.on('error', () => response.destroy());
  request.pipe(passed);
}
