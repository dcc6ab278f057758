import { parseArgs } from 'node:util';
import { findPostgres, startPostgres } from '../support/postgres-server.ts';
import { FULL, SMALL } from './doses.ts';
import { runTunnel } from './tunnel.ts';

const { values } = parseArgs({ options: { small: { type: 'boolean' }, seed: { type: 'string', default: '1' } } });

const bin = findPostgres();
if (bin === undefined) {
  process.stderr.write('the tunnel needs a PostgreSQL server: no initdb was found\n');
  process.exitCode = 69;
} else {
  await using server = await startPostgres(bin);
  const dose = { ...(values.small === true ? SMALL : FULL), seed: Number(values.seed) };
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const { takeOverMs, violations, ...counts } = await runTunnel(server, dose, say);
  const middle = Math.round(takeOverMs[Math.floor(takeOverMs.length / 2)] ?? 0);
  const worst = Math.round(takeOverMs.at(-1) ?? 0);
  const takeOver = { accounts: takeOverMs.length, medianMs: middle, worstMs: worst };
  process.stdout.write(`${JSON.stringify({ ...counts, takeOver, violations }, null, 2)}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
