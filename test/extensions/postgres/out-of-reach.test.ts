import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../src/extensions/health/doctor/check.ts';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { freePort } from '../../support/postgres-server.ts';

describe('a database of PostgreSQL that is out of reach', () => {
  const run = async (...args: string[]) => {
    const environment = {
      ORDER_SYNC_DATABASE_URL: `postgres://u@127.0.0.1:${await freePort()}/shop`,
      ORDER_SYNC_EXCHANGE_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      ORDER_SYNC_EXCHANGE_API_KEY: 'test-key',
    };
    return await runProgram(args, { cwd: temporaryFolder(), environment });
  };

  it('is told by the doctor once, and what needs it is left out', async () => {
    const { code, stdout } = await run('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: readonly CheckResult[] };
    const said = findings.filter(({ found }) => found.includes('ECONNREFUSED')).map(({ check }) => check);
    expect([code, said]).toEqual([74, ['database', 'address']]);
    expect(findings.at(-1)).toMatchObject({ check: 'database', level: 'warning' });
    for (const left of ['accounts', 'clock', 'key', 'service', 'ops'])
      expect(findings.at(-1)?.found).toMatch(new RegExp(`\\b${left}\\b`));
  });

  it('lets status end with 74, and name the place in which a daemon shows how it is', async () => {
    const { code, stderr } = await run('status');
    expect([code, stderr]).toEqual([74, expect.stringContaining('ops.listen')]);
  });
});
