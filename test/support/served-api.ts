import { writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SCOPES, type Caller } from '../../src/extensions/api/caller.ts';
import { serveApi } from '../../src/extensions/api/door/server.ts';
import { freeAddress } from '../../src/extensions/sandbox/demo/stage.ts';
import type { Served } from '../../src/extensions/api/server.ts';
import { askAt, served, type AskOptions, type SocketAnswer } from './control-socket.ts';
import { temporaryFolder } from './folders.ts';
import { SELF_SIGNED } from './self-signed.ts';
import type { ScriptedExchange } from './scripted-exchange.ts';
import {
  scriptedProgram,
  testProgram,
  type SandboxProgram,
  type SandboxProgramOptions,
  type TestProgram,
} from './test-program.ts';

export interface TokenOptions extends Partial<Caller> {
  readonly rate?: number;
  readonly secret?: string;
}

export interface ServedApi<Program extends TestProgram = SandboxProgram> {
  readonly program: Program;
  readonly stopping: AbortController;
  readonly to: RequestOptions;
  readonly url: string;
  /** The file of the secret of the first token, and of each other. */
  readonly files: readonly string[];
  /** The accounts of the operations that came through, which the owner does. */
  readonly asked: readonly string[];
  close(): Promise<void>;
  /** Sends one request with the secret of the first token, unless `authorization` is given. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<SocketAnswer>;
}

interface ServeOptions {
  readonly isTls?: boolean;
  readonly tokens?: readonly TokenOptions[];
  /** The parts in place of the real thing. */
  readonly instead?: Partial<Served>;
}

export interface ApiOptions extends SandboxProgramOptions, ServeOptions {}

/** A secret of a token for tests. */
export const secretOf = (name: string): string => `canary-secret-of-${name}-`.padEnd(40, '0');

/** A token of the settings, with its secret in a file. */
export function tokenIn(folder: string, { rate = 1_000_000, secret, ...caller }: TokenOptions) {
  const { name = 'shop', scopes = SCOPES, accounts = 'all' } = caller;
  const secretFile = join(folder, `${name}.token`);
  writeFileSync(secretFile, `${secret ?? secretOf(name)}\n`, { mode: 0o600 });
  return { caller: { name, scopes, accounts }, secretFile, rate };
}

/** The settings of an API on loopback. */
export function apiSettingsIn(folder: string, tokens: readonly TokenOptions[], isTls = false) {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, SELF_SIGNED.cert);
  writeFileSync(keyFile, SELF_SIGNED.key, { mode: 0o600 });
  return {
    listen: { host: '127.0.0.1', port: 0 },
    ...(isTls ? { certFile, keyFile } : { certFile: undefined, keyFile: undefined }),
    insecure: false,
    advertise: undefined,
    tokens: tokens.map((token) => tokenIn(folder, token)),
  };
}

/** Serves the API of a program against the sandbox, on loopback. */
export async function servedApi(options: ApiOptions = {}): Promise<ServedApi> {
  return await apiOf(await testProgram(options), options);
}

/** The same with an exchange that the test scripts. */
export async function scriptedApi(
  options: ServeOptions = {},
): Promise<ServedApi<TestProgram> & { readonly exchange: ScriptedExchange }> {
  const { program, exchange } = await scriptedProgram();
  return { ...(await apiOf(program, options)), exchange };
}

/** Settings with which a process serves its API on loopback, its URL, and what others need to ask it. */
export async function apiOfProcess() {
  const listen = await freeAddress();
  const { caller, secretFile } = tokenIn(temporaryFolder(), {});
  const url = `http://${listen}`;
  const tokens = JSON.stringify([{ name: caller.name, scopes: SCOPES, secretFile }]);
  const settings = { ORDER_SYNC_API_LISTEN: listen, ORDER_SYNC_API_ADVERTISE: url, ORDER_SYNC_API_TOKENS: tokens };
  return { url, settings };
}

/** Serves the API of a program that there is, on loopback. */
export async function apiOf<Program extends TestProgram>(
  program: Program,
  { isTls, tokens = [{}], instead }: ServeOptions = {},
): Promise<ServedApi<Program>> {
  const settings = apiSettingsIn(temporaryFolder(), tokens, isTls);
  const stopping = new AbortController();
  const serving: Served = { ...served(program.app, program.activities), ...instead };
  const asked: string[] = [];
  const use: Served['use'] = async (account) => {
    asked.push(account);
    return await serving.use(account);
  };
  const api = await serveApi({ ...serving, use }, settings, stopping.signal);
  let closed: Promise<void> | undefined;
  const close = async () => {
    stopping.abort();
    await (closed ??= api.close());
  };
  onTestFinished(async () => {
    program.app.endGracePeriod();
    await close();
  });
  const { protocol, port } = new URL(api.url ?? '');
  const to = { protocol, host: '127.0.0.1', port: Number(port), ...(isTls === true && { ca: SELF_SIGNED.cert }) };
  const authorization = `Bearer ${tokens[0]?.secret ?? secretOf(tokens[0]?.name ?? 'shop')}`;
  return {
    program,
    stopping,
    to,
    url: api.url ?? '',
    files: settings.tokens.map(({ secretFile }) => secretFile),
    asked,
    close,
    ask: (method, path, body, { headers, ...more } = {}) =>
      askAt(to, method, path, body, { headers: { authorization, ...headers }, ...more }),
  };
}
