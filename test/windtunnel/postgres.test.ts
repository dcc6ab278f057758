import { describe, expect, it } from 'vitest';
import { findPostgres, startPostgres } from '../support/postgres-server.ts';
import { SMALL } from './doses.ts';
import { runTunnel } from './tunnel.ts';

const bin = findPostgres();

/** Far above what it takes, also where everything else runs beside it. */
const TIMEOUT_MS = 900_000;

describe.skipIf(bin === undefined)('workers that are killed and stopped, cut off, and whose server goes away', () => {
  it('lose no order, create none twice, and keep the rate of every account', { timeout: TIMEOUT_MS }, async () => {
    await using server = await startPostgres(bin ?? '');
    const { orders, violations } = await runTunnel(server, SMALL, () => {});
    expect(orders).toBeGreaterThan(SMALL.accounts);
    expect(violations).toEqual([]);
  });
});
