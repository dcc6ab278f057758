import { request, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import { serveControl, type ControlSocket } from '../../src/http/control/server.ts';
import type { EnvelopeError } from '../../src/http/control/envelope.ts';
import { controlSocketPath } from '../../src/http/control/socket-path.ts';
import { capturedLog, type CapturedLog } from './captured-log.ts';
import { scriptedBench } from './scripted-bench.ts';
import type { ScriptedExchange } from './scripted-exchange.ts';
import { workbench, type Workbench, type WorkbenchOptions } from './workbench.ts';

/** An answer of a control socket, as it came. */
export interface SocketAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How a request differs from a plain one. */
export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A control socket that is served, on a workbench. */
export interface ControlBench {
  readonly bench: Workbench;
  readonly control: ControlSocket;
  readonly socketPath: string;
  readonly stopping: AbortController;
  readonly log: CapturedLog;
  /** How often creates were woken. */
  wakes(): number;
  /** Sends one request over the socket; a body that is no text goes as JSON. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<SocketAnswer>;
}

/** Serves the control socket of a workbench; both are gone when the test is finished. */
export async function controlBench(options: WorkbenchOptions = {}): Promise<ControlBench> {
  const log = capturedLog();
  const bench = await workbench({ ...options, overrides: { log: log.logger, ...options.overrides } });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return await serve(bench, log);
}

/** The same with an exchange that the test scripts. */
export async function scriptedControl(
  options: WorkbenchOptions = {},
): Promise<ControlBench & { readonly exchange: ScriptedExchange }> {
  const log = capturedLog();
  const { bench, exchange } = await scriptedBench({
    ...options,
    overrides: { log: log.logger, ...options.overrides },
  });
  return { ...(await serve(bench, log)), exchange };
}

/** Sends one request over a Unix socket. Rejects when the connection breaks. */
export function askSocket(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
  { signal, headers }: AskOptions = {},
): Promise<SocketAnswer> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const type = text === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, method, path, headers: { ...type, ...headers }, agent: false, ...(signal && { signal }) },
      (response) => {
        const { statusCode: status = 0 } = response;
        response
          .toArray()
          .then(
            (chunks) =>
              resolve({ status, headers: response.headers, text: Buffer.concat(chunks as Buffer[]).toString() }),
            reject,
          );
      },
    );
    call.on('error', reject).end(text);
  });
}

/** The error of an answer that is no success. */
export function failureIn({ text }: SocketAnswer): EnvelopeError {
  const { ok, error } = JSON.parse(text) as { ok: boolean; error?: EnvelopeError };
  if (ok || error === undefined) throw new Error(`a success: ${text}`);
  return error;
}

async function serve(bench: Workbench, log: CapturedLog): Promise<ControlBench> {
  const socketPath = controlSocketPath(bench.config.database.path);
  const stopping = new AbortController();
  let wakes = 0;
  const control = await serveControl({ ...bench.app, wakeCreates: () => (wakes += 1) }, socketPath, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    bench.app.endGracePeriod();
    await control.close();
  });
  return {
    bench,
    control,
    socketPath,
    stopping,
    log,
    wakes: () => wakes,
    ask: (...args) => askSocket(socketPath, ...args),
  };
}
