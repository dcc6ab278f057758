import { deadline } from '../../../base/clock.ts';
import type { DatabaseHost } from '../place/url.ts';
import type { ClientConfig } from 'pg';
import { Client } from '../client.ts';

export const ASK_MS = 2_000;

export interface Answer {
  readonly server: DatabaseHost;
  /** The time-line of a server that takes writes: eight hexadecimal digits, which go up with each promotion. */
  readonly timeLine?: string;
  /** Why the server takes no writes: its role, or its silence. For a silent server `error` is the failure. */
  readonly why?: string;
  readonly error?: unknown;
}

const ROLE = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as reading,
  case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as line`;

export async function readRole(client: Client): Promise<Answer> {
  const { server } = client;
  // The driver's type lacks `query_timeout`.
  const { rows } = await client.query<Record<'standby' | 'reading' | 'line', unknown>>({
    text: ROLE,
    query_timeout: ASK_MS,
  } as { text: string });
  const { standby, reading, line } = rows[0] ?? {};
  if (standby === 1) return { server, why: 'is a standby' };
  return reading === 1 ? { server, why: 'is read-only' } : { server, timeLine: String(line) };
}

/** Asks a server over a new connection, for at most `ASK_MS`, or until `stop` aborts. */
export async function askServer(server: DatabaseHost, config: ClientConfig, stop: AbortSignal): Promise<Answer> {
  const client = new Client({ ...config, destination: { server, connectTimeoutMs: ASK_MS } });
  client.on('error', () => undefined);
  const late = deadline(ASK_MS);
  AbortSignal.any([late, stop]).addEventListener('abort', () => client.breakOff());
  try {
    await client.connect();
    return await readRole(client);
  } catch (error) {
    const why = late.aborted ? `gave no answer in ${ASK_MS / 1_000} s` : 'does not answer';
    return { server, why, error };
  } finally {
    void client.end().catch(() => undefined);
  }
}
