import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { onTestFinished } from 'vitest';
import { Activities } from '../../src/extensions/health/activity.ts';
import { explainer } from '../../src/extensions/health/service.ts';
import { serveControl, type Served } from '../../src/extensions/api/server.ts';
import type { App } from '../../src/app.ts';
import { EXTENSIONS } from '../../src/extensions.ts';
import type { Config } from '../../src/settings/config.ts';
import type { EnvelopeError } from '../../src/extensions/api/envelope.ts';
import { controlSocketPath } from '../../src/extensions/api/asking/transport.ts';
import type { CapturedLog } from './captured-log.ts';
import type { ScriptedExchange } from './scripted-exchange.ts';
import {
  scriptedProgram,
  testProgram,
  type SandboxProgram,
  type SandboxProgramOptions,
  type TestProgram,
  type TestProgramOptions,
} from './test-program.ts';

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

/** A control socket that is served, and the program behind it. */
export interface ServedSocket<Program extends TestProgram = TestProgram> {
  readonly program: Program;
  readonly control: Awaited<ReturnType<typeof serveControl>>;
  readonly socketPath: string;
  readonly stopping: AbortController;
  readonly log: CapturedLog;
  /** How often creates were woken. */
  wakes(): number;
  /** Sends one request over the socket; a body that is no text goes as JSON. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<SocketAnswer>;
}

/** Serves the control socket of a program against the sandbox. */
export async function controlSocket(options: SandboxProgramOptions = {}): Promise<ServedSocket<SandboxProgram>> {
  return await serve(await testProgram(options));
}

/** The same with an exchange that the test scripts. */
export async function scriptedControlSocket(
  options: TestProgramOptions = {},
): Promise<ServedSocket & { readonly exchange: ScriptedExchange }> {
  const { program, exchange } = await scriptedProgram(options);
  return { ...(await serve(program)), exchange };
}

/** Sends one request over a Unix socket. Rejects when the connection breaks. */
export function askSocket(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
  options: AskOptions = {},
): Promise<SocketAnswer> {
  return askAt({ socketPath }, method, path, body, options);
}

/** The same over the socket or the port that the options name. */
export function askAt(
  to: RequestOptions,
  method: string,
  path: string,
  body?: unknown,
  { signal, headers }: AskOptions = {},
): Promise<SocketAnswer> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const type = text === undefined ? {} : { 'content-type': 'application/json' };
  const options = { ...to, method, path, headers: { ...type, ...headers }, agent: false, ...(signal && { signal }) };
  return new Promise((resolve, reject) => {
    const call = (to.protocol === 'https:' ? requestTls : request)(options, (response) => {
      const { statusCode: status = 0 } = response;
      response
        .toArray()
        .then(
          (chunks) =>
            resolve({ status, headers: response.headers, text: Buffer.concat(chunks as Buffer[]).toString() }),
          reject,
        );
    });
    call.on('error', reject).end(text);
  });
}

/** The error of an answer that is no success. */
export function failureIn({ text }: SocketAnswer): EnvelopeError {
  const { ok, error } = JSON.parse(text) as { ok: boolean; error?: EnvelopeError };
  if (ok || error === undefined) throw new Error(`a success: ${text}`);
  return error;
}

/** The parts of a control socket that answers for the account of an app alone. */
export function served(app: App, activities = new Activities(app.clock), wakeCreates: () => void = () => {}): Served {
  const inUse = { app: { ...app, wakeCreates }, [Symbol.dispose]: () => {} };
  const status = () => ({
    ...app,
    config: {
      ...app.config,
      exchange: { rate: { requests: 10, interval: 1_000 } },
      accounts: [{ name: app.account }],
      webhooks: { endpoints: [] },
    } as unknown as Config,
    activities,
    accounts: { names: [app.account] },
    ops: { failure: undefined },
    process: { pid: process.pid, version: '1.2.3', startedAt: app.clock.now().toISOString() },
  });
  return {
    ...app,
    services: { status, explain: explainer({ ...app, activities }), purges: [] },
    extensions: EXTENSIONS,
    use: async (account) => (account === app.account ? inUse : undefined),
  };
}

async function serve<Program extends TestProgram>(program: Program): Promise<ServedSocket<Program>> {
  const socketPath = controlSocketPath(program.config.database.path);
  const stopping = new AbortController();
  let wakes = 0;
  const control = await serveControl(
    served(program.app, program.activities, () => (wakes += 1)),
    socketPath,
    stopping.signal,
  );
  onTestFinished(async () => {
    stopping.abort();
    program.app.endGracePeriod();
    await control.close();
  });
  return {
    program,
    control,
    socketPath,
    stopping,
    log: program.log,
    wakes: () => wakes,
    ask: (...args) => askSocket(socketPath, ...args),
  };
}
