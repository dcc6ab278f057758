import { writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SCOPES, type Caller } from '../../src/extensions/api/caller.ts';
import { serveApi } from '../../src/extensions/api/door/server.ts';
import type { Served } from '../../src/extensions/api/server.ts';
import { askAt, served, type AskOptions, type SocketAnswer } from './control-socket.ts';
import { temporaryFolder } from './folders.ts';
import { SELF_SIGNED } from './self-signed.ts';
import { testProgram, type SandboxProgram, type SandboxProgramOptions } from './test-program.ts';

export interface TokenOptions extends Partial<Caller> {
  readonly rate?: number;
  readonly secret?: string;
}

export interface ServedApi {
  readonly program: SandboxProgram;
  readonly stopping: AbortController;
  readonly to: RequestOptions;
  readonly url: string;
  /** The file of the secret of the first token, and of each other. */
  readonly files: readonly string[];
  close(): Promise<void>;
  /** Sends one request with the secret of the first token, unless `authorization` is given. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<SocketAnswer>;
}

export interface ApiOptions extends SandboxProgramOptions {
  readonly isTls?: boolean;
  readonly tokens?: readonly TokenOptions[];
  /** What stands in place of the real thing. */
  readonly instead?: Partial<Served>;
}

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
export async function servedApi({ isTls, tokens = [{}], instead, ...options }: ApiOptions = {}): Promise<ServedApi> {
  const program = await testProgram(options);
  const settings = apiSettingsIn(temporaryFolder(), tokens, isTls);
  const stopping = new AbortController();
  const api = await serveApi({ ...served(program.app, program.activities), ...instead }, settings, stopping.signal);
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
    close,
    ask: (method, path, body, { headers, ...more } = {}) =>
      askAt(to, method, path, body, { headers: { authorization, ...headers }, ...more }),
  };
}
