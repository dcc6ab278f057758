import { after } from '../../base/instant.ts';
import type { Tracking } from '../../orders/rules/tracking.ts';
import { accountWords } from './name.ts';

/** A promotion of a standby that may lack commits of the last (lost) owner of an account. Times are the database's. */
export interface FailOver {
  readonly id: number;
  readonly fromTimeLine: string | null;
  readonly toTimeLine: string | null;
  readonly seenAt: string;
  readonly heardAt: string | null;
  readonly generation: number;
  /** The lost owner's settings by path, as JSON; null if the server lacks them. */
  readonly settings: string | null;
  /** The next owner's settings, because the lost owner may have had these too, and the record of them may be lost. */
  readonly nextSettings: string | null;
  /** The place of the lost owner's create pass in the due orders, as JSON; null for the beginning. */
  readonly walked: string | null;
  /** The lost owner cannot have sent orders that were inserted after this time. Null if the time is not known. */
  readonly insertedUntil: string | null;
  readonly markedAt?: string;
  /** When the lost owner named the orders that it had sent. */
  readonly reportedAt?: string;
  readonly decision?: 'sent' | 'not-sent';
}

/** The most due rows, sent or not, that a create pass reads for each request that the rate limit allows. */
export const MOST_ROWS_READ_PER_REQUEST = 10;

/** The name of `MOST_ROWS_READ_PER_REQUEST` in recorded settings. It is recorded because versions may differ. */
export const ROWS_READ_SETTING = 'rows walked by per request';

/** The most that the clocks of two servers are assumed to differ. */
const CLOCKS_MS = 10_000;

/** Returns how many due rows the lost owner may have read since its last sign of life; undefined if unknown. */
export function mostRowsRead({ settings, nextSettings, heardAt, seenAt }: FailOver): number | undefined {
  const limits = [readLimits(settings), readLimits(nextSettings)];
  if (heardAt === null || !limits.every((one) => one !== undefined)) return undefined;
  const unheardMs = Math.max(0, Date.parse(seenAt) - Date.parse(heardAt)) + CLOCKS_MS;
  const rows = Math.max(
    ...limits.map(({ requests, intervalMs, concurrency, rowsRead }) => {
      const windows = Math.ceil(unheardMs / intervalMs) + 1;
      return windows * requests * rowsRead + 2 * concurrency;
    }),
  );
  return Number.isSafeInteger(rows) ? rows : undefined;
}

function readLimits(settings: string | null) {
  const byPath = readSettings(settings);
  const [, requests, intervalMs] = /^(\d+) in (\d+) ms$/.exec(String(byPath['exchange.rate'])) ?? [];
  const limits = {
    requests: Number(requests),
    intervalMs: Number(intervalMs),
    concurrency: Number(byPath['exchange.concurrency']),
    rowsRead: Number(byPath[ROWS_READ_SETTING]),
  };
  return Object.values(limits).every((limit) => Number.isSafeInteger(limit) && limit > 0) ? limits : undefined;
}

/** True if both settings require each intent on a standby before its request leaves, so that no intent can be lost. */
export function isCovered({ settings, nextSettings }: FailOver): boolean {
  return [settings, nextSettings].every((text) => Number(readSettings(text)['database.synchronousStandbys'] ?? 0) > 0);
}

export function readSettings(text: string | null): Readonly<Record<string, unknown>> {
  const byPath = readJson(text);
  return typeof byPath === 'object' ? { ...byPath } : {};
}

/** Returns the place in the due orders that the lost owner's create pass had reached; undefined for the beginning. */
export function placeReached({
  walked,
}: FailOver): readonly [nextActionAt: string, externalOrderId: string] | undefined {
  const place = readJson(walked);
  return Array.isArray(place) && place.every((part) => typeof part === 'string')
    ? (place as [string, string])
    : undefined;
}

function readJson(text: string | null): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

export function isSeenAfter(seenAt: string, time: Date): boolean {
  return Date.parse(seenAt) >= time.getTime() - CLOCKS_MS;
}

export function isKnownTo({ insertedUntil }: Pick<FailOver, 'insertedUntil'>, createdAt: string): boolean {
  return insertedUntil === null || createdAt <= after(new Date(insertedUntil), CLOCKS_MS).toISOString();
}

/** Returns the fail-over that may have lost a create of the order, for example a create that a person had requested. */
export function doubtedBy(
  failOvers: readonly FailOver[],
  { state, failOver }: Pick<Tracking, 'state' | 'failOver'>,
  updatedAt: string,
): FailOver | undefined {
  if (failOver !== null) return failOvers.find(({ id }) => id === failOver);
  if (!['rejected', 'invalid', 'unknown', 'held'].includes(state)) return undefined;
  const isOpen = (one: FailOver) => one.decision !== 'not-sent' && !isCovered(one);
  return failOvers.find((one) => isOpen(one) && updatedAt <= one.seenAt);
}

/** The advice about the orders in doubt: `--sent` first, because an order that is followed by mistake is not lost. */
export function decidingAdvice(account: string, { id }: Pick<FailOver, 'id'>): string {
  const command = `order-sync db accept-restore${accountWords(account)} --failover ${id} --sent --file IDS --reason TEXT`;
  return `ask the exchange about each order; write to the file IDS the ids of the orders that the exchange has, and run ${command}; then replace them with the ids of the orders that the exchange lacks, and run the command again with --not-sent in place of --sent`;
}
