import { describe, expect, it } from 'vitest';
import { findPostgres } from '../support/postgres-server.ts';
import { DIALECTS, QUICK } from './doses.ts';
import { runOn } from './run.ts';

/** Far above what it takes, also where everything else runs beside it. */
const TIMEOUT_MS = 900_000;

const DIALECTS_HERE = DIALECTS.filter((dialect) => dialect === 'sqlite' || findPostgres() !== undefined);

describe('processes that are killed while the exchange fails', () => {
  it.each(DIALECTS_HERE)('lose no order on %s, and create none twice', { timeout: TIMEOUT_MS }, async (dialect) => {
    const { orders, kills, violations } = await runOn(dialect, QUICK[dialect], () => {});
    expect([violations, kills]).toEqual([[], QUICK[dialect].disturbances.kill]);
    expect(orders).toBeGreaterThan(QUICK[dialect].accounts);
  });
});
