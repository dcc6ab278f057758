import { deadline } from '../../../base/clock.ts';
import type { DatabaseHost } from '../../../settings/database-url.ts';
import { Client, type clientConfig } from '../client.ts';

export const ASK_MS = 2_000;

/** Why a server is not the primary: its `error`, if it did not tell, or else its role. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly server: DatabaseHost;
  readonly why: string;
  readonly error?: unknown;
}

export interface Writable {
  readonly kind: 'writable';
  readonly server: DatabaseHost;
  /** The number of the server's time-line, as eight hexadecimal digits. It goes up with each promotion. */
  readonly timeLine: string;
}

export type Answer = Refusal | Writable;

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
  if (standby === 1) return { kind: 'refusal', server, why: 'is a standby' };
  if (reading === 1) return { kind: 'refusal', server, why: 'is read-only' };
  return { kind: 'writable', server, timeLine: String(line) };
}

/** Asks over a connection of its own, for at most `ASK_MS`, or until `stop` aborts. */
export async function askServer(
  server: DatabaseHost,
  config: ReturnType<typeof clientConfig>,
  stop: AbortSignal,
): Promise<Answer> {
  const client = new Client({ ...config, destination: { server, connectTimeoutMs: ASK_MS } });
  client.on('error', () => undefined);
  const late = deadline(ASK_MS);
  AbortSignal.any([late, stop]).addEventListener('abort', () => client.breakOff());
  try {
    await client.connect();
    return await readRole(client);
  } catch (error) {
    const why = late.aborted ? `gave no answer in ${ASK_MS / 1_000} s` : 'does not answer';
    return { kind: 'refusal', server, why, error };
  } finally {
    void client.end().catch(() => undefined);
  }
}
