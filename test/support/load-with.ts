import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../src/settings/config.ts';
import { temporaryFolder } from './folders.ts';
import { loadConfig } from './settings.ts';

const EXCHANGE = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example', ORDER_SYNC_EXCHANGE_API_KEY: 'key' };

/** The settings of variables and of a file, for an exchange. */
export function loadWith(env: Readonly<Record<string, string>>, yaml?: string, mode = 0o600): Config {
  const cwd = temporaryFolder();
  if (yaml !== undefined) writeFileSync(join(cwd, 'own.yaml'), yaml, { mode });
  const file = yaml === undefined ? null : 'own.yaml';
  return loadConfig({ env: { ...EXCHANGE, ...env }, cwd, file, requireExchange: true });
}
