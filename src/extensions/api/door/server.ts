import { createSecureContext } from 'node:tls';
import { ConfigError } from '../../../settings/config.ts';
import { readValueFile } from '../../../settings/settings-file.ts';
import { messageOf } from '../../../base/text.ts';
import { listenPatiently } from '../../http/server.ts';
import { controlServer, serveOperations, type Served } from '../server.ts';
import type { ApiSettings } from '../settings.ts';
import { guard } from './guard.ts';
import { Tokens } from './tokens.ts';

/** Serves the operations at `api.listen` to programs with a token. Throws `ConfigError` for unusable settings. */
export async function serveApi(served: Served, settings: ApiSettings, stopping: AbortSignal) {
  const { listen } = settings;
  if (listen === undefined) return { url: undefined, close: async () => {} };
  const tokens = new Tokens(settings.tokens, served);
  const server = controlServer(served.log, readTls(settings));
  guard(server, tokens, served);
  const close = await serveOperations(server, served, stopping);
  const listening = await listenPatiently(server, { ...served, name: 'api', listen }, stopping);
  return {
    get url() {
      return listening.url;
    },
    async close(): Promise<void> {
      await listening.waiting;
      await close();
    },
  };
}

function readTls({ certFile, keyFile }: ApiSettings) {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const tls = { cert: readValueFile(certFile, 'api.certFile', false), key: readValueFile(keyFile, 'api.keyFile') };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    throw new ConfigError(`api.certFile and api.keyFile cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
